-- The common end of attempts claimed by this node. Lists may hold the one value that all jobs have.
-- Answers null when all were written, else the number of each that was. A node calls it once at a
-- time: in parallel, calls contend for the ends of tables and indexes and take longer than in a row.

create function carillon.settle(
  p_tokens text[], p_seqs bigint[], p_expected bigint[], p_token_at int[],
  p_states smallint[], p_whats smallint[], p_ats bigint[], p_ranks bigint[], p_attempts bigint[],
  p_runs bigint[], p_occurrences bigint[], p_finishes bigint[], p_outcomes smallint[],
  p_ends bigint[], p_bodies text, p_details text, p_skip_at int[], p_skip_from bigint[],
  p_skip_to bigint[], p_skip_count bigint[], p_skip_reason text[], p_skip_end bigint[],
  p_drop_at int[], p_drop_number bigint[], p_drop_before bigint[], p_clear_at int[],
  p_replaces boolean
)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_count int := cardinality(p_seqs);
  v_seqs bigint[] := p_seqs;
  v_at int[];
  v_tokens text[];
  v_ends int[];
  v_gone text[];
  v_bodies text[] := string_to_array(p_bodies, E'\x1f');
  v_details text[] := string_to_array(p_details, E'\x1f');
begin
  if cardinality(p_expected) = 1 then
    p_expected := array_fill(p_expected[1], array[v_count]);
  end if;
  if cardinality(p_token_at) = 1 then
    p_token_at := array_fill(p_token_at[1], array[v_count]);
  end if;
  if cardinality(p_states) = 1 then
    p_states := array_fill(p_states[1], array[v_count]);
  end if;
  if cardinality(p_whats) = 1 then
    p_whats := array_fill(p_whats[1], array[v_count]);
  end if;
  if cardinality(p_ats) = 1 then
    p_ats := array_fill(p_ats[1], array[v_count]);
  end if;
  if cardinality(p_ranks) = 1 then
    p_ranks := array_fill(p_ranks[1], array[v_count]);
  end if;
  if cardinality(p_attempts) = 1 then
    p_attempts := array_fill(p_attempts[1], array[v_count]);
  end if;
  if cardinality(p_runs) = 1 then
    p_runs := array_fill(p_runs[1], array[v_count]);
  end if;
  if cardinality(p_occurrences) = 1 then
    p_occurrences := array_fill(p_occurrences[1], array[v_count]);
  end if;
  if cardinality(p_finishes) = 1 then
    p_finishes := array_fill(p_finishes[1], array[v_count]);
  end if;
  if cardinality(p_outcomes) = 1 then
    p_outcomes := array_fill(p_outcomes[1], array[v_count]);
  end if;
  if cardinality(p_ends) = 1 then
    p_ends := array_fill(p_ends[1], array[v_count]);
  end if;
  if p_replaces then
    delete from carillon.attempts a using unnest(p_seqs, p_attempts) r (job, number)
      where a.job = r.job and a.number = r.number;
  end if;
  with written as (
      update carillon.jobs j set state = p_states[i],
      due_at = case when p_whats[i] < 2 then p_ats[i] end, rank = p_ranks[i],
      until_at = case when p_whats[i] = 2 then p_ats[i] end,
      expire_at = case when p_whats[i] > 2 then p_ats[i] end, attempts = p_attempts[i],
      version = j.version + 1, body = v_bodies[i], token = null, owner = null
      from generate_subscripts(p_seqs, 1) i
      where j.seq = p_seqs[i] and j.version = p_expected[i] and j.token = p_tokens[p_token_at[i]]
      returning i, j.line, j.lane, j.share, j.attempt_id, j.claimed_at
    ), waits as (
      insert into carillon.moments select p_seqs[i], line, p_whats[i], p_ats[i], p_ranks[i], lane
      from written where p_whats[i] is not null
    ), history as (
      insert into carillon.attempts select p_seqs[i], p_attempts[i], attempt_id, p_runs[i],
      p_occurrences[i], claimed_at, p_finishes[i], p_outcomes[i], p_ends[i],
      carillon.odd_expiry(p_ends[i], p_finishes[i], claimed_at), v_details[i]
      from written where p_runs[i] is not null
    ), moved as (
      insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
      array_agg(1), array_agg(m.state), array_agg(m.n) from (select share, p_states[i] as state,
          count(*) as n from written group by 1, 2) m having count(*) > 0),
          ended as (select p_token_at[i] as at, count(*)::int as n from written group by 1)
    select (select array_agg(i) from written), (select array_agg(p_tokens[at]) from ended),
    (select array_agg(n) from ended) into v_at, v_tokens, v_ends;
  if v_at is null then
    return array_fill(null::bigint, array[v_count]);
  end if;
  if cardinality(v_at) < v_count then
    v_seqs := array_fill(null::bigint, array[v_count]);
    for i in 1 .. cardinality(v_at) loop
      v_seqs[v_at[i]] := p_seqs[v_at[i]];
    end loop;
  end if;
  perform 1 from carillon.leases l where l.token = any (v_tokens) order by l.token for update;
  delete from carillon.leases l using unnest(v_tokens, v_ends) e (token, n)
    where l.token = e.token and l.open <= e.n;
  update carillon.leases l set open = l.open - e.n from unnest(v_tokens, v_ends) e (token, n)
    where l.token = e.token and l.open > e.n;
  if cardinality(p_skip_at) > 0 then
    insert into carillon.skips select v_seqs[k.at], k.first_at, k.last_at, k.n, k.reason, k.ends
      from unnest(p_skip_at, p_skip_from, p_skip_to, p_skip_count, p_skip_reason, p_skip_end)
      k (at, first_at, last_at, n, reason, ends)
      where v_seqs[k.at] is not null on conflict do nothing;
  end if;
  if cardinality(p_drop_at) > 0 then
    with gone as (
        delete from carillon.attempts a using unnest(p_drop_at, p_drop_number, p_drop_before)
        d (at, number, before)
        where a.job = v_seqs[d.at] and a.number = d.number and a.finished_at < d.before
        returning a.id
      ) select array_agg(id) into v_gone from gone;
    if v_gone is not null then
      delete from carillon.logs where attempt = any (v_gone);
    end if;
  end if;
  if cardinality(p_clear_at) > 0 and exists (select 1 from carillon.progress) then
    delete from carillon.progress p using unnest(p_clear_at) c (at) where p.job = v_seqs[c.at];
  end if;
  perform carillon.fold();
  return case when cardinality(v_at) < v_count then v_seqs end;
end $$;
