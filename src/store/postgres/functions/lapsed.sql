-- Jobs whose pause ended and running ones whose lease ended, by number. Renewals write only to the jobs:
-- the leases of their claims learn of it here, unless another transaction holds them.

create function carillon.lapsed(p_now bigint, p_claims int, p_limit int, p_server boolean)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  v_until bigint;
  v_seqs bigint[];
  v_all bigint[];
  v_now bigint := case when p_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
begin
  v_all := array(select m.seq from carillon.moments m where m.what = 2 and m.at <= v_now
      order by m.at, m.seq limit p_limit);
  for r in select l.token, l.until_at, l.seqs from carillon.leases l where l.until_at <= v_now
    order by l.until_at limit p_claims loop
    select min(j.until_at), array_agg(j.seq) filter (where j.until_at <= v_now)
      into v_until, v_seqs
      from unnest(r.seqs) g (seq) join carillon.jobs j on j.seq = g.seq
      where j.token = r.token and j.state = 1;
    if v_until is null then
      delete from carillon.leases l where l.token = any (array(select k.token from carillon.leases k
            where k.token = r.token and k.until_at = r.until_at and k.seqs = r.seqs
            for update skip locked));
    elsif v_until <> r.until_at then
      update carillon.leases l set until_at = v_until where l.token = any (array(select k.token
          from carillon.leases k
            where k.token = r.token and k.until_at = r.until_at and k.seqs = r.seqs
            for update skip locked));
    end if;
    v_all := v_all || coalesce(v_seqs, '{}');
  end loop;
  return v_all;
end $$;
