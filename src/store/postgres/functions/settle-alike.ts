// The common end of attempts as `settle_1` writes it, for lists that mostly hold one value: such a
// list is given with that value alone, and tokens once each, with their places beside them.

import { fromDocuments, writtenOut } from '../arrays.ts'
import { made } from './made.ts'
import { moved, odd, replaced, rest, restParameters, settleFields } from './settle.ts'

/** Every list but the numbers of the jobs may hold a single value. */
export const alikeFields = settleFields.map(([name, type]) =>
  name === 'tokens' ? (['token_at', 'int'] as const) : ([name, type] as const),
)

const given = alikeFields.map(([name, type]) => `p_${name} ${type}[]`).join(', ')

const lists = alikeFields.filter(([name]) => name !== 'seqs').map(([name]) => `p_${name}`)

/** The record of a claim counts down and goes with its last job, all in one order of tokens. */
const endLeases = (s: string): string => `
  perform 1 from ${s}.leases l where l.token = any (v_tokens) order by l.token for update;
  delete from ${s}.leases l using unnest(v_tokens, v_ends) e (token, n)
    where l.token = e.token and l.open <= e.n;
  update ${s}.leases l set open = l.open - e.n from unnest(v_tokens, v_ends) e (token, n)
    where l.token = e.token and l.open > e.n;`

/**
 * Calls of one owner take turns: side by side they get into each other's way at the ends of tables and
 * indexes, and both take longer than one after the other. The second waits here, with all it needs.
 */
const inTurn = (s: string): string => `
  if p_owner is not null then
    perform pg_advisory_xact_lock(hashtextextended('carillon settle ${s} ' || p_owner, 0));
  end if;`

/** By position: `unnest` of so many lists would write a table of its own. */
const write = (s: string): string => `
  with written as (
    update ${s}.jobs j set state = p_states[i],
      due_at = case when p_whats[i] < 2 then p_ats[i] end, rank = p_ranks[i],
      until_at = case when p_whats[i] = 2 then p_ats[i] end,
      expire_at = case when p_whats[i] > 2 then p_ats[i] end, attempts = p_attempts[i],
      version = j.version + 1, body = v_bodies[i], token = null, owner = null
      from generate_subscripts(p_seqs, 1) i
      where j.seq = p_seqs[i] and j.version = p_expected[i] and j.token = p_tokens[p_token_at[i]]
      returning i, j.line, j.lane, j.share, j.attempt_id, j.claimed_at
  ), waits as (
    insert into ${s}.moments select p_seqs[i], line, p_whats[i], p_ats[i], p_ranks[i], lane
      from written where p_whats[i] is not null
  ), history as (
    insert into ${s}.attempts select p_seqs[i], p_attempts[i], attempt_id, p_runs[i],
      p_occurrences[i], claimed_at, p_finishes[i], p_outcomes[i], p_ends[i],
      ${odd('p_ends[i]', 'p_finishes[i]', 'claimed_at')}, v_details[i]
      from written where p_runs[i] is not null
  ), moved as (${moved(
    s,
    'select share, p_states[i] as state, count(*) as n from written group by 1, 2',
  )}), ended as (select p_token_at[i] as at, count(*)::int as n from written group by 1)
  select (select array_agg(i) from written), (select array_agg(p_tokens[at]) from ended),
    (select array_agg(n) from ended) into v_at, v_tokens, v_ends;`

/** Null says that all were written; otherwise each that was has its number at its place. */
export const settleAlikeFunction = (s: string): string =>
  made(s, {
    name: 'settle_2',
    parameters: `p_owner text, p_tokens text[], ${given}, p_bodies text, p_details text, ${restParameters},
      p_replaces boolean`,
    returns: 'bigint[]',
    declare: `v_count int := cardinality(p_seqs); v_seqs bigint[] := p_seqs; v_at int[];
      v_tokens text[]; v_ends int[]; v_gone text[];
      v_bodies text[] := ${fromDocuments('p_bodies')};
      v_details text[] := ${fromDocuments('p_details')};`,
    body: `
      ${inTurn(s)}
      ${writtenOut(lists, 'v_count')}
      ${replaced(s)}
      ${write(s)}
      if v_at is null then return array_fill(null::bigint, array[v_count]); end if;
      if cardinality(v_at) < v_count then
        v_seqs := array_fill(null::bigint, array[v_count]);
        for i in 1 .. cardinality(v_at) loop v_seqs[v_at[i]] := p_seqs[v_at[i]]; end loop;
      end if;
      ${endLeases(s)}
      ${rest(s)}
      perform ${s}.fold_1();
      return case when cardinality(v_at) < v_count then v_seqs end;`,
  })
