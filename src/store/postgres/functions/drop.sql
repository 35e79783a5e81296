-- Removes jobs with everything that belongs to them. Their due rows are deleted already.

create function carillon.drop(p_seqs bigint[], p_after smallint)
returns void
language plpgsql as $$
#variable_conflict use_column
declare
  v_ended text[];
  v_moved boolean;
begin
  delete from carillon.attempts a where a.job = any (p_seqs);
  delete from carillon.skips k where k.job = any (p_seqs);
  delete from carillon.progress p where p.job = any (p_seqs);
  delete from carillon.logs l where l.job = any (p_seqs);
  delete from carillon.specs x where x.seq = any (p_seqs);
  with gone as (
      delete from carillon.jobs j where j.seq = any (p_seqs)
      returning j.share, j.state, j.token
    ), moved as (
      insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
      array_agg(m.state), array_agg(p_after), array_agg(m.n)
      from (select share, state, count(*) as n from gone group by share, state) m
      having count(*) > 0
    ) select array_agg(g.token) filter (where g.token is not null), count(*) > 0
    into v_ended, v_moved from gone g;
  perform 1 from carillon.leases l where l.token = any (v_ended) order by l.token for update;
  with ended as (select token, count(*) as n from unnest(v_ended) t (token)
      where token is not null group by token),
    gone as (delete from carillon.leases l using ended e where l.token = e.token and l.open <= e.n
      returning l.token)
    update carillon.leases l set open = l.open - e.n from ended e
    where l.token = e.token and l.open > e.n;
  if v_moved then
    perform carillon.fold();
  end if;
end $$;
