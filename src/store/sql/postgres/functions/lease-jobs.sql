-- Puts the jobs, which the caller has locked, under a lease and answers with what a node has to know of each,
-- in the order given. p_seqs is null where nothing was taken.

create function carillon.lease_jobs(
  p_seqs bigint[], p_owner text, p_token text, p_attempts text[], p_now bigint, p_lease bigint
)
returns table (
  n bigint, seq bigint, id text, kind text, series_id text, tenant text, spec text, declared text,
  created_at bigint, handler text, lane text, waiting_for text, attempts bigint, fence bigint, version bigint, detail text,
  claimed_at bigint
)
language plpgsql as $$
#variable_conflict use_column
begin
  if p_seqs is null then
    return;
  end if;
  return query with leased as (
      update carillon.job_states s set state = 'running', ready = null, rank = null, due_at = null,
        attempts = s.attempts + 1, fence = s.fence + 1, version = s.version + 1, token = p_token,
        owner = p_owner, attempt_id = g.attempt_id, claimed_at = p_now,
        until_at = p_now + p_lease
      from unnest(p_seqs, p_attempts) with ordinality g (seq, attempt_id, n)
        join carillon.jobs j on j.seq = g.seq
      where s.seq = g.seq
      returning g.n, s.seq, j.id, j.kind, j.series_id, j.tenant, j.spec, j.declared, j.created_at,
        s.queue, s.handler, s.lane, s.waiting_for, s.attempts, s.fence, s.version, s.detail
    ), counted as (
      insert into carillon.count_changes
        select c.tenant, c.queue, c.handler, c.kind, x.state, x.sign * c.count, 0
          from (select l.tenant, l.queue, l.handler, l.kind, count(*) as count from leased l
            group by l.tenant, l.queue, l.handler, l.kind) c
          cross join (values ('waiting', -1), ('running', 1)) x (state, sign)
    )
    select l.n, l.seq, l.id, l.kind, l.series_id, l.tenant, l.spec, l.declared, l.created_at,
        l.handler, l.lane, l.waiting_for, l.attempts, l.fence, l.version, l.detail, p_now
      from leased l;
  perform carillon.sum_counts();
end $$;
