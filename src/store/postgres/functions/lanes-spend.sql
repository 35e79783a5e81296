-- Counts claimed jobs against the rules of their lane and of its tenant.

create function carillon.lanes_spend(p_tids tid[], p_lanes text[], p_token text, p_now bigint)
returns void
language plpgsql as $$
#variable_conflict use_column
declare
  v_one record;
  v_rule json;
begin
  for v_one in select k.name, count(*)::int as n, array_agg(k.tid) as tids from (
      select o.lane as name, o.tid from unnest(p_tids, p_lanes) o (tid, lane)
      union all
      select split_part(o.lane, '/', 1), o.tid from unnest(p_tids, p_lanes) o (tid, lane)
      where position('/' in o.lane) > 0
    ) k group by k.name loop
    select r.value::json into v_rule from carillon.records r where r.kind = 'lane'
      and r.key = v_one.name and (r.expire_at is null or r.expire_at > p_now);
    continue when not found;
    if v_rule ->> 'count' is not null then
      insert into carillon.rates as x values (v_one.name, p_now
          + v_one.n * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int)
        on conflict (lane) do update set whole_at = greatest(x.whole_at, p_now)
        + v_one.n * (v_rule ->> 'perMs')::double precision / (v_rule ->> 'count')::int;
    end if;
    if v_rule ->> 'runningMax' is not null then
      insert into carillon.capped select v_one.name, m.seq, p_token from carillon.moments m
        where m.ctid = any (v_one.tids)
        on conflict (lane, seq) do update set token = excluded.token;
    end if;
  end loop;
end $$;
