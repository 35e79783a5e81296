// Changes of every kind, many at once. Whatever a job waits for is taken away first: a claim takes
// it the same way, so at most one of them goes on to the job.

import { endLeases, odd, rest, restArguments, restParameters } from './settle.ts'
import { insertArguments, insertParameters } from './insert.ts'
import { made } from './made.ts'

export const changeFields = `n int, id text, expected bigint, holder text, share int, line int,
  lane text, spec_at bigint, spec text, declared text, app text, definition text, kept bigint,
  sought_name text, state smallint, what smallint, at bigint, rank bigint, until_at bigint,
  expire_at bigint, attempts bigint, fence bigint, version bigint, body text,
  token text, owner text, attempt_id text, claimed_at bigint, number bigint, attempt text,
  run bigint, occurrence bigint, begun_at bigint, finished_at bigint, outcome smallint, ends bigint,
  detail text`
const given = `json_to_recordset(p_changes) c (${changeFields})`

/** Takes away what the jobs wait for and tells of which ones it was there. */
const take = (s: string): string => {
  const gone = (what: string, more: string) =>
    `delete from ${s}.moments m using old o where m.what = ${what} and m.seq = o.seq and ${more}
      returning m.seq`
  return made(s, {
    name: 'take_1',
    parameters: 'p_seqs bigint[]',
    returns: 'bigint[]',
    declare: 'v_seqs bigint[];',
    isInner: true,
    body: `
      with old as materialized (
        select j.seq, j.line, j.lane, j.kind, j.state, j.due_at, j.rank, j.until_at, j.expire_at
          from unnest(p_seqs) g (seq) join ${s}.jobs j on j.seq = g.seq order by j.seq
      ),
      timed as (${gone('0', 'o.state = 0 and m.line = o.line and m.at = o.due_at')}),
      ready as (${gone('1', 'o.state = 0 and m.line = o.line and m.lane = o.lane and m.rank = o.rank')}),
      paused as (${gone('2', 'o.state = 2 and m.at = o.until_at')}),
      expiring as (${gone(
        '3 + o.kind',
        'm.what >= 3 and o.state > 2 and m.line = o.line and m.at = o.expire_at',
      )})
      select array_agg(seq) into v_seqs from (
        select seq from timed union all select seq from ready
        union all select seq from paused union all select seq from expiring) t;
      return coalesce(v_seqs, '{}');`,
  })
}

/** `v_seqs[n]` becomes null for each that turns out not to be ours to write. */
const check = (s: string): string => `
  for r in select c.n, j.seq, j.share, j.state,
      (j.version = c.expected and j.token is not distinct from c.holder) as fits,
      case j.state when 0 then j.due_at is not null when 1 then false
        when 2 then j.until_at is not null else j.expire_at is not null end as waits
      from ${given} left join ${s}.jobs j on j.id = c.id order by j.seq loop
    v_results[r.n] := case when r.seq is null then 2 when r.fits then 0 else 1 end;
    if v_results[r.n] = 0 then
      v_seqs[r.n] := r.seq; v_shares[r.n] := r.share; v_states[r.n] := r.state;
      if r.waits then v_waits := v_waits || r.seq; end if;
    end if;
  end loop;`

const guard = (s: string): string => `
  if p_records is not null and 0 = any (v_results)
      and not ${s}.records_fit_1(p_records, p_now) then
    return array_replace(v_results, 0::smallint, 1::smallint);
  end if;
  if p_max is not null and 0 = any (v_results) then
    v_room := ${s}.room_1(p_queues, p_max);
    for i in 1 .. cardinality(p_ids) loop
      if p_states[i] = 0 and v_room[p_queue_at[i]] <= 0
          and not exists (select 1 from ${s}.jobs j where j.id = p_ids[i]) then
        return array_replace(v_results, 0::smallint, 3::smallint);
      end if;
    end loop;
  end if;`

/** A moment that was just made ready is met at the second look. */
const takeMoments = (s: string): string => `
  if cardinality(v_waits) > 0 then
    v_taken := ${s}.take_1(v_waits);
    if cardinality(v_taken) < cardinality(v_waits) then
      v_taken := v_taken || ${s}.take_1(array(select w from unnest(v_waits) w
        where w <> all (v_taken)));
    end if;
    if cardinality(v_taken) < cardinality(v_waits) then
      for i in 1 .. cardinality(v_seqs) loop
        if v_seqs[i] = any (v_waits) and v_seqs[i] <> all (v_taken) then
          v_seqs[i] := null; v_results[i] := 1;
        end if;
      end loop;
    end if;
  end if;`

const writeJobs = (s: string): string => `
  with c as (
    select v_seqs[c.n] as seq, c.* from ${given} where v_seqs[c.n] is not null
      order by v_seqs[c.n]
  ), written as (
    update ${s}.jobs j set share = coalesce(c.share, j.share), line = coalesce(c.line, j.line),
      lane = coalesce(c.lane, j.lane), spec_at = coalesce(c.spec_at, j.spec_at), state = c.state,
      due_at = case when c.what < 2 then c.at end, rank = c.rank, until_at = c.until_at,
      expire_at = c.expire_at, attempts = c.attempts, fence = c.fence, version = c.version,
      body = c.body, token = c.token, owner = c.owner,
      attempt_id = c.attempt_id, claimed_at = c.claimed_at
      from c where j.seq = c.seq and j.version = c.expected
        and j.token is not distinct from c.holder
      returning j.line as at_line, j.lane as at_lane, j.share as at_share, c.*
  ), waits as (
    insert into ${s}.moments select seq, at_line, what, at, rank, at_lane from written
      where what is not null
  ), history as (
    insert into ${s}.attempts select seq, number, attempt, run, occurrence, begun_at, finished_at,
      outcome, ends, ${odd('ends', 'finished_at', 'begun_at')}, detail
      from written where attempt is not null
      on conflict (job, number) do update set id = excluded.id, run = excluded.run,
        occurrence = excluded.occurrence, claimed_at = excluded.claimed_at,
        finished_at = excluded.finished_at, outcome = excluded.outcome,
        expire_at = excluded.expire_at, odd = excluded.odd, body = excluded.body
  ), specified as (
    update ${s}.specs x set spec_at = w.spec_at, spec = w.spec, declared = w.declared, app = w.app,
      definition = w.definition, kept = w.kept, sought_name = w.sought_name
      from written w where w.spec_at is not null and x.seq = w.seq
  ), moved as (
    insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
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
  if v_at is null then v_at := '{}'; end if;
  for i in 1 .. cardinality(v_seqs) loop
    if v_seqs[i] is not null and i <> all (v_at) then
      if v_seqs[i] = any (v_taken) then
        raise exception 'a job changed while what it waits for was held'
          using errcode = 'serialization_failure';
      end if;
      v_seqs[i] := null; v_results[i] := 1;
    end if;
  end loop;`

/** With records or a bound on the queues of its inserts, a call holds a single change. */
const commit = (s: string): string =>
  made(s, {
    name: 'commit_1',
    parameters: `p_changes json, ${restParameters}, ${insertParameters}, p_insert_at int[],
      p_queue_at int[], p_queues text[], p_max bigint, p_records json, p_now bigint`,
    returns: 'smallint[]',
    declare: `r record; v_results smallint[] := '{}'; v_seqs bigint[] := '{}';
      v_shares int[] := '{}'; v_states smallint[] := '{}'; v_waits bigint[] := '{}';
      v_taken bigint[] := '{}'; v_at int[]; v_ended text[]; v_gone text[]; v_room bigint[];
      v_keeps boolean[];`,
    body: `
      v_results := array_fill(0::smallint, array[json_array_length(p_changes)]);
      v_seqs := array_fill(null::bigint, array[cardinality(v_results)]);
      v_shares := v_seqs; v_states := v_seqs;
      ${check(s)}
      ${guard(s)}
      ${takeMoments(s)}
      ${writeJobs(s)}
      if cardinality(v_at) = 0 then return v_results; end if;
      ${endLeases(s, 'v_ended')}
      ${rest(s)}
      if cardinality(p_ids) > 0 then
        v_keeps := array(select v_seqs[p_insert_at[g.n]] is not null and j.id is null
          from unnest(p_ids) with ordinality g (id, n) left join ${s}.jobs j on j.id = g.id
          order by g.n);
        if true = any (v_keeps) then
          perform ${s}.add_1(v_keeps, ${insertArguments.map(name => `p_${name}`).join(', ')});
        end if;
      end if;
      if p_records is not null then perform ${s}.records_put_1(p_records, p_now); end if;
      perform ${s}.fold_1();
      return v_results;`,
  })

export const commitFunctions = (s: string): string[] => [take(s), commit(s)]
export const commitRest = restArguments
