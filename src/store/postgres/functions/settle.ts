// The common end of an attempt claimed here, many at once: nothing to check but the fence.

import { specDefaults } from '../../../core/spec.ts'
import { HOUR } from '../../../core/time.ts'
import { fromDocuments } from '../arrays.ts'
import { made } from './made.ts'

/** The rest of an attempt is in the row: who held it, since when, under which id. */
export const settleFields = [
  ['seqs', 'bigint'],
  ['expected', 'bigint'],
  ['tokens', 'text'],
  ['states', 'smallint'],
  ['whats', 'smallint'],
  ['ats', 'bigint'],
  ['ranks', 'bigint'],
  ['attempts', 'bigint'],
  ['runs', 'bigint'],
  ['occurrences', 'bigint'],
  ['finishes', 'bigint'],
  ['outcomes', 'smallint'],
  ['ends', 'bigint'],
] as const

/**
 * Attempts of the usual retention expire in the order of their ids, so pruning finds them by
 * walking; only those that would be out of that order are kept in an index of their own.
 */
export function odd(ends: string, finished: string, claimed: string): string {
  return `case when ${ends} - ${finished} <> ${specDefaults.retention.ageMs}
    or ${finished} - ${claimed} > ${HOUR} then 1 end`
}

/** What is left to do for few: skips, attempts beyond the kept number, checkpoints. */
export const restParameters = `p_skip_at int[], p_skip_from bigint[], p_skip_to bigint[],
  p_skip_count bigint[], p_skip_reason text[], p_skip_end bigint[], p_drop_at int[],
  p_drop_number bigint[], p_drop_before bigint[], p_clear_at int[]`
export const restArguments = restParameters.replaceAll(/ \w+\[\]/g, '')

/** `v_seqs[n]` is the number of the n-th change, null when it was not written. */
export const rest = (s: string): string => `
  if cardinality(p_skip_at) > 0 then
    insert into ${s}.skips select v_seqs[k.at], k.first_at, k.last_at, k.n, k.reason, k.ends
      from unnest(p_skip_at, p_skip_from, p_skip_to, p_skip_count, p_skip_reason, p_skip_end)
        k (at, first_at, last_at, n, reason, ends)
      where v_seqs[k.at] is not null on conflict do nothing;
  end if;
  if cardinality(p_drop_at) > 0 then
    with gone as (
      delete from ${s}.attempts a using unnest(p_drop_at, p_drop_number, p_drop_before)
        d (at, number, before)
        where a.job = v_seqs[d.at] and a.number = d.number and a.finished_at < d.before
        returning a.id
    ) select array_agg(id) into v_gone from gone;
    if v_gone is not null then delete from ${s}.logs where attempt = any (v_gone); end if;
  end if;
  if cardinality(p_clear_at) > 0 and exists (select 1 from ${s}.progress) then
    delete from ${s}.progress p using unnest(p_clear_at) c (at) where p.job = v_seqs[c.at];
  end if;`

/**
 * The record of a claim counts down and goes with its last job. Calls that end jobs of the same
 * claims lock their records in one order.
 */
export const endLeases = (s: string, tokens: string): string => `
  perform 1 from ${s}.leases l where l.token = any (${tokens}) order by l.token for update;
  with ended as (select token, count(*) as n from unnest(${tokens}) t (token)
    where token is not null group by token),
  gone as (delete from ${s}.leases l using ended e where l.token = e.token and l.open <= e.n
    returning l.token)
  update ${s}.leases l set open = l.open - e.n from ended e
    where l.token = e.token and l.open > e.n;`

/** A number that was used already must not keep a batch from ever being written. */
export const replaced = (s: string): string => `
  if p_replaces then
    delete from ${s}.attempts a using unnest(p_seqs, p_attempts) r (job, number)
      where a.job = r.job and a.number = r.number;
  end if;`

/** What was written counts in other numbers from now on; `written` has share, state and n. */
export const moved = (s: string, written: string): string => `
  insert into ${s}.deltas select nextval('${s}.deltas_seq'), array_agg(m.share),
    array_agg(1), array_agg(m.state), array_agg(m.n) from (${written}) m having count(*) > 0`

const given = settleFields.map(([name, type]) => `p_${name} ${type}[]`).join(', ')
const unnested = settleFields.map(([name]) => `p_${name}`).join(', ')
const named = settleFields.map(([name]) => name).join(', ')

export const settleFunction = (s: string): string =>
  made(s, {
    name: 'settle_1',
    parameters: `${given}, p_bodies text, p_details text, ${restParameters}, p_replaces boolean`,
    returns: 'bigint[]',
    declare: 'v_seqs bigint[]; v_written bigint[]; v_at int[]; v_gone text[]; v_ended text[];',
    body: `
      ${replaced(s)}
      with c as (
        select * from unnest(${unnested}, ${fromDocuments('p_bodies')}, ${fromDocuments('p_details')})
          with ordinality c (${named}, body, detail, n)
      ), written as (
        update ${s}.jobs j set state = c.states, due_at = case when c.whats < 2 then c.ats end,
          rank = c.ranks, until_at = case when c.whats = 2 then c.ats end,
          expire_at = case when c.whats > 2 then c.ats end, attempts = c.attempts,
          version = j.version + 1, body = c.body, token = null,
          owner = null
          from c where j.seq = c.seqs and j.version = c.expected and j.token = c.tokens
          returning c.n, j.seq, j.line, j.lane, j.share, j.state, c.whats, c.ats, c.ranks, c.tokens,
            j.attempts, j.attempt_id, j.claimed_at, c.runs, c.occurrences, c.finishes, c.outcomes,
            c.ends, c.detail
      ), waits as (
        insert into ${s}.moments select seq, line, whats, ats, ranks, lane from written
          where whats is not null
      ), history as (
        insert into ${s}.attempts select seq, attempts, attempt_id, runs, occurrences, claimed_at,
          finishes, outcomes, ends, ${odd('ends', 'finishes', 'claimed_at')}, detail
          from written where runs is not null
      ), moved as (${moved(s, 'select share, state, count(*) as n from written group by share, state')})
      select array_agg(n), array_agg(seq), array_agg(tokens) into v_at, v_seqs, v_ended
        from written;
      if v_at is null then return array_fill(null::bigint, array[cardinality(p_seqs)]); end if;
      if cardinality(v_at) < cardinality(p_seqs) then
        v_written := v_seqs;
        v_seqs := array_fill(null::bigint, array[cardinality(p_seqs)]);
        for i in 1 .. cardinality(v_at) loop v_seqs[v_at[i]] := v_written[i]; end loop;
      end if;
      ${endLeases(s, 'v_ended')}
      ${rest(s)}
      perform ${s}.fold_1();
      return v_seqs;`,
  })
