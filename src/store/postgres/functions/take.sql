-- Deletes the due rows of the jobs and answers with the jobs whose row was there.

create function carillon.take(p_seqs bigint[])
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_seqs bigint[];
begin
  with old as materialized (
      select j.seq, j.line, j.lane, j.kind, j.state, j.due_at, j.rank, j.until_at, j.expire_at
      from unnest(p_seqs) g (seq) join carillon.jobs j on j.seq = g.seq order by j.seq
    ),
    timed as (delete from carillon.moments m using old o where m.what = 0 and m.seq = o.seq
        and o.state = 0 and m.line = o.line and m.at = o.due_at
      returning m.seq),
    ready as (delete from carillon.moments m using old o where m.what = 1 and m.seq = o.seq
        and o.state = 0 and m.line = o.line and m.lane = o.lane and m.rank = o.rank
      returning m.seq),
    paused as (delete from carillon.moments m using old o where m.what = 2 and m.seq = o.seq
        and o.state = 2 and m.at = o.until_at
      returning m.seq),
    expiring as (delete from carillon.moments m using old o where m.what = 3 + o.kind
        and m.seq = o.seq and m.what >= 3 and o.state > 2 and m.line = o.line and m.at = o.expire_at
      returning m.seq)
    select array_agg(seq) into v_seqs from (
      select seq from timed union all select seq from ready
      union all select seq from paused union all select seq from expiring) t;
  return coalesce(v_seqs, '{}');
end $$;
