-- Changes of every kind, many at once. Deleting the due row is the lock on the job: a claim deletes it
-- the same way, so at most one of them goes on to the job. With records, or with a bound on the queues
-- of its inserts, a call holds a single change. Answers 0 committed, 1 conflict, 2 missing, 3 full.

create function carillon.commit(
  p_changes json, p_skip_at int[], p_skip_from bigint[], p_skip_to bigint[], p_skip_count bigint[],
  p_skip_reason text[], p_skip_end bigint[], p_drop_at int[], p_drop_number bigint[],
  p_drop_before bigint[], p_clear_at int[], p_ids text[], p_series text[], p_kinds smallint[],
  p_shares int[], p_lines int[], p_lanes text[], p_states smallint[], p_whats smallint[],
  p_ats bigint[], p_ranks bigint[], p_untils bigint[], p_expires bigint[], p_attempts bigint[],
  p_fences bigint[], p_versions bigint[], p_tokens text[], p_owners text[], p_attempt_ids text[],
  p_claims bigint[], p_apps text[], p_definitions text[], p_births bigint[], p_kept bigint[],
  p_sought_ids text[], p_sought_names text[], p_bodies text, p_specs text, p_declared text,
  p_insert_at int[], p_queue_at int[], p_queues text[], p_max bigint, p_records json, p_now bigint
)
returns smallint[]
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  v_results smallint[] := '{}';
  v_seqs bigint[] := '{}';
  v_shares int[] := '{}';
  v_states smallint[] := '{}';
  v_waits bigint[] := '{}';
  v_taken bigint[] := '{}';
  v_at int[];
  v_ended text[];
  v_gone text[];
  v_room bigint[];
  v_keeps boolean[];
begin
  v_results := array_fill(0::smallint, array[json_array_length(p_changes)]);
  v_seqs := array_fill(null::bigint, array[cardinality(v_results)]);
  v_shares := v_seqs;
  v_states := v_seqs;
  for r in select c.n, j.seq, j.share, j.state,
    (j.version = c.expected and j.token is not distinct from c.holder) as fits,
    case j.state when 0 then j.due_at is not null when 1 then false
    when 2 then j.until_at is not null else j.expire_at is not null end as waits
    from json_to_recordset(p_changes) c (n int, id text, expected bigint, holder text, share int,
        line int,
      lane text, spec_at bigint, spec text, declared text, app text, definition text, kept bigint,
      sought_name text, state smallint, what smallint, at bigint, rank bigint, until_at bigint,
      expire_at bigint, attempts bigint, fence bigint, version bigint, body text,
      token text, owner text, attempt_id text, claimed_at bigint, number bigint, attempt text,
      run bigint, occurrence bigint, begun_at bigint, finished_at bigint, outcome smallint,
          ends bigint,
      detail text) left join carillon.jobs j on j.id = c.id order by j.seq loop
    v_results[r.n] := case when r.seq is null then 2 when r.fits then 0 else 1 end;
    if v_results[r.n] = 0 then
      v_seqs[r.n] := r.seq;
      v_shares[r.n] := r.share;
      v_states[r.n] := r.state;
      if r.waits then
        v_waits := v_waits || r.seq;
      end if;
    end if;
  end loop;
  if p_records is not null and 0 = any (v_results)
    and not carillon.records_fit(p_records, p_now) then
    return array_replace(v_results, 0::smallint, 1::smallint);
  end if;
  if p_max is not null and 0 = any (v_results) then
    v_room := carillon.room(p_queues, p_max);
    for i in 1 .. cardinality(p_ids) loop
      if p_states[i] = 0 and v_room[p_queue_at[i]] <= 0
        and not exists (select 1 from carillon.jobs j where j.id = p_ids[i]) then
        return array_replace(v_results, 0::smallint, 3::smallint);
      end if;
    end loop;
  end if;
  if cardinality(v_waits) > 0 then
    v_taken := carillon.take(v_waits);
    if cardinality(v_taken) < cardinality(v_waits) then
      v_taken := v_taken || carillon.take(array(select w from unnest(v_waits) w
            where w <> all (v_taken)));
    end if;
    if cardinality(v_taken) < cardinality(v_waits) then
      for i in 1 .. cardinality(v_seqs) loop
        if v_seqs[i] = any (v_waits) and v_seqs[i] <> all (v_taken) then
          v_seqs[i] := null;
          v_results[i] := 1;
        end if;
      end loop;
    end if;
  end if;
  with c as (
      select v_seqs[c.n] as seq, c.* from json_to_recordset(p_changes) c (n int, id text,
          expected bigint, holder text, share int, line int,
        lane text, spec_at bigint, spec text, declared text, app text, definition text, kept bigint,
        sought_name text, state smallint, what smallint, at bigint, rank bigint, until_at bigint,
        expire_at bigint, attempts bigint, fence bigint, version bigint, body text,
        token text, owner text, attempt_id text, claimed_at bigint, number bigint, attempt text,
        run bigint, occurrence bigint, begun_at bigint, finished_at bigint, outcome smallint,
            ends bigint,
        detail text) where v_seqs[c.n] is not null
      order by v_seqs[c.n]
    ), written as (
      update carillon.jobs j set share = coalesce(c.share, j.share), line = coalesce(c.line,
          j.line),
      lane = coalesce(c.lane, j.lane), spec_at = coalesce(c.spec_at, j.spec_at), state = c.state,
      due_at = case when c.what < 2 then c.at end, rank = c.rank, until_at = c.until_at,
      expire_at = c.expire_at, attempts = c.attempts, fence = c.fence, version = c.version,
      body = c.body, token = c.token, owner = c.owner,
      attempt_id = c.attempt_id, claimed_at = c.claimed_at
      from c where j.seq = c.seq and j.version = c.expected
      and j.token is not distinct from c.holder
      returning j.line as at_line, j.lane as at_lane, j.share as at_share, c.*
    ), waits as (
      insert into carillon.moments select seq, at_line, what, at, rank, at_lane from written
      where what is not null
    ), history as (
      insert into carillon.attempts select seq, number, attempt, run, occurrence, begun_at,
          finished_at,
      outcome, ends, carillon.odd_expiry(ends, finished_at, begun_at), detail
      from written where attempt is not null
      on conflict (job, number) do update set id = excluded.id, run = excluded.run,
      occurrence = excluded.occurrence, claimed_at = excluded.claimed_at,
      finished_at = excluded.finished_at, outcome = excluded.outcome,
      expire_at = excluded.expire_at, odd = excluded.odd, body = excluded.body
    ), specified as (
      update carillon.specs x set spec_at = w.spec_at, spec = w.spec, declared = w.declared,
          app = w.app,
      definition = w.definition, kept = w.kept, sought_name = w.sought_name
      from written w where w.spec_at is not null and x.seq = w.seq
    ), moved as (
      insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
      array_agg(m.was), array_agg(m.becomes), array_agg(m.n) from (
        select v_shares[n] as share, v_states[n] as was, -1 as becomes, count(*) as n from written
        where v_shares[n] <> at_share group by 1, 2
        union all
        select at_share, case when v_shares[n] = at_share then v_states[n] else -1 end, state,
        count(*) from written group by 1, 2, 3
      ) m having count(*) > 0
    )
    select array_agg(w.n), array_agg(case when w.token is null then w.holder end)
    into v_at, v_ended from written w;
  if v_at is null then
    v_at := '{}';
  end if;
  for i in 1 .. cardinality(v_seqs) loop
    if v_seqs[i] is not null and i <> all (v_at) then
      if v_seqs[i] = any (v_taken) then
        raise exception 'a job changed while what it waits for was held'
          using errcode = 'serialization_failure';
      end if;
      v_seqs[i] := null;
      v_results[i] := 1;
    end if;
  end loop;
  if cardinality(v_at) = 0 then
    return v_results;
  end if;
  perform 1 from carillon.leases l where l.token = any (v_ended) order by l.token for update;
  with ended as (select token, count(*) as n from unnest(v_ended) t (token)
      where token is not null group by token),
    gone as (delete from carillon.leases l using ended e where l.token = e.token and l.open <= e.n
      returning l.token)
    update carillon.leases l set open = l.open - e.n from ended e
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
  if cardinality(p_ids) > 0 then
    v_keeps := array(select v_seqs[p_insert_at[g.n]] is not null and j.id is null
        from unnest(p_ids) with ordinality g (id, n) left join carillon.jobs j on j.id = g.id
        order by g.n);
    if true = any (v_keeps) then
      perform carillon.add(v_keeps, p_ids, p_series, p_kinds, p_shares, p_lines, p_lanes, p_states,
          p_whats, p_ats, p_ranks, p_untils, p_expires, p_attempts, p_fences, p_versions, p_tokens,
          p_owners, p_attempt_ids, p_claims, p_apps, p_definitions, p_births, p_kept, p_sought_ids,
          p_sought_names, p_bodies, p_specs, p_declared);
    end if;
  end if;
  if p_records is not null then
    perform carillon.records_put(p_records, p_now);
  end if;
  perform carillon.fold();
  return v_results;
end $$;
