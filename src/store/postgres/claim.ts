// Due and waiting → running. The server decides who is next, by the rules of core/fair; what it
// does not send along is known here already.

import { DamagedRecord } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import type { ClaimRequest } from '../port.ts'
import { fromDocumentsText, fromNumbers, numbers, separated, texts } from './arrays.ts'
import type { Cell, ColdRow, Row } from './columns.ts'
import type { Value } from './connection.ts'
import type { Body } from '../shared/body.ts'
import { toJob, type Cold, type Hot } from '../shared/job.ts'
import { damageOf } from '../shared/damage.ts'
import { toCold } from './record.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'
import { parseBody, toldOf, type Told } from '../shared/told.ts'

/** Timed jobs made ready in one claim; what is due later than these has to wait its turn. */
export const BITE = 2_000
const BITE_FACTOR = 4

export async function claim(tables: Tables, request: ClaimRequest): Promise<Job[]> {
  if (!canGive(request)) return []
  const values = claimValues(tables, request)
  const places = values.map((_, i) => `$${i + 1}`).join(', ')
  const sql = `select * from ${claimName(tables, request)}(${places})`
  const [row] = await tables.connection.call(sql, values)
  if (row) return claimedJobs(tables, row, request)
  noteCrowd(tables, request, 0)
  return []
}

/** All that was asked for: there is more, and nobody need count it the next time. */
function noteCrowd(tables: Tables, { queue, limit }: ClaimRequest, count: number): void {
  if (count === limit && count > 1) tables.crowded.add(queue)
  else tables.crowded.delete(queue)
}

export function canGive({ limit, handlers }: ClaimRequest): boolean {
  return limit > 0 && handlers.length > 0
}

export function claimName({ connection }: Tables, request: ClaimRequest): string {
  return connection.functionName(isLimited(request) ? 'claim_ruled' : 'claim')
}

function isLimited({ hasLimits, laneScope }: ClaimRequest): boolean {
  return hasLimits === true || laneScope !== undefined
}

/** Which of the values says how many may be given. */
export const LIMIT_AT = 3

/** What the function takes. */
export function claimValues(tables: Tables, request: ClaimRequest): Value[] {
  return [
    toKey(request.queue),
    texts([...new Set(request.handlers)].map(toKey)),
    request.now,
    request.limit,
    toKey(request.owner),
    toKey(request.token),
    request.leaseMs,
    idsText(request),
    Math.max(BITE, BITE_FACTOR * request.limit),
    tables.bringsSpecs,
    tables.asksServer,
    ...(isLimited(request) ? ruledValues(request) : turnValues(tables, request)),
  ]
}

/** The form for rules takes them as a list still. */
function idsText(request: ClaimRequest): string {
  const keys = request.attemptIds.map(toKey)
  return isLimited(request) ? texts(keys) : separated(keys)
}

/** What the function answers with, claimed at the moment that judged what is due. */
export function claimedJobs(tables: Tables, row: Row, request: ClaimRequest): Promise<Job[]> {
  let rows: Claimed[]
  try {
    rows = isLimited(request) ? listedRows(row) : textRows(row)
  } catch {
    // One of the rows is so damaged that none can be told from the others.
    return readOneByOne(tables, request)
  }
  noteCrowd(tables, request, rows.length)
  // It may be the server's.
  const now = Number(row[isLimited(request) ? 9 : 1])
  return understood(tables, rows, { ...request, now })
}

/** Whether more is due than fits, and what each tenant may hold. */
function turnValues({ crowded }: Tables, { queue, shares }: ClaimRequest): Value[] {
  const held = Object.entries(shares?.held ?? {}).map(([name, count]) => [toKey(name), count])
  return [
    crowded.has(queue),
    shares?.most ?? null,
    shares ? JSON.stringify(Object.fromEntries(held)) : null,
  ]
}

/** Whether rules hold, the scope, one tenant with its spans, and what each tenant may hold. */
function ruledValues({ hasLimits, laneScope, shares }: ClaimRequest): Value[] {
  const { tenant, spans } = laneScope?.lanes ?? { tenant: null, spans: [] }
  const held = Object.entries(shares?.held ?? {})
  return [
    hasLimits === true || laneScope !== undefined,
    laneScope ? toKey(laneScope.scope) : null,
    tenant === null ? null : toKey(tenant),
    texts(spans.map(({ from }) => toKey(from))),
    texts(spans.map(({ until }) => toKey(until))),
    shares?.most ?? null,
    texts(held.map(([name]) => toKey(name))),
    numbers(held.map(([, count]) => count)),
  ]
}

/** A job as a claim tells it; `n` counts from one in the order they should start. */
interface Claimed {
  readonly n: number
  readonly seq: number
  readonly specAt: number
  readonly attempts: number
  readonly fence: number
  readonly version: number
  /** Why it does not decode instead, where it does not. */
  readonly body: Told | DamagedRecord
  readonly cold: ColdRow | null
}

function decoded(work: () => Told): Told | DamagedRecord {
  try {
    return work()
  } catch (error) {
    return damageOf(error, 'state')
  }
}

/** As `claim_ruled` sends them: lists, and of specs a JSON list for each, with its turn. */
function listedRows(row: Row): Claimed[] {
  const [ns, seqs, specAts, , attempts, fences, versions] = row.slice(0, 7).map(fromNumbers)
  const all = row[8] ? (JSON.parse(row[8]) as [number, ...ColdRow][]) : []
  const colds = new Map(all.map(([n, ...cold]): [number, ColdRow] => [n, cold]))
  if (!row[0]) return []
  const rows = fromDocumentsText(row[7]!).map((body, i): Claimed => {
    const n = ns![i]!
    return {
      n,
      seq: seqs![i]!,
      specAt: specAts![i]!,
      attempts: attempts![i]!,
      fence: fences![i]!,
      version: versions![i]!,
      body: decoded(() => parseBody(body)),
      cold: colds.get(n) ?? null,
    }
  })
  return inTurn(rows)
}

const ROW_WIDTH = 7

/** As `claim` sends them: all rows, one after another, as the inside of one JSON list. */
function textRows(row: Row): Claimed[] {
  // All that was taken were moments of jobs that are gone.
  if (row[0] === null) return []
  const cells = JSON.parse(`[${row[0]}]`) as unknown[]
  const counts = cells as number[]
  const colds = coldRows(row)
  const rows: Claimed[] = []
  for (let at = 0; at < cells.length; at += ROW_WIDTH) {
    rows.push({
      n: counts[at]!,
      seq: counts[at + 1]!,
      specAt: counts[at + 2]!,
      attempts: counts[at + 3]!,
      fence: counts[at + 4]!,
      version: counts[at + 5]!,
      body: decoded(() => toldOf(cells[at + 6] as Body)),
      cold: colds === null ? null : colds(rows.length),
    })
  }
  return inTurn(rows)
}

/** What a claim holds is in its record of leases. */
async function readOneByOne(tables: Tables, request: ClaimRequest): Promise<Job[]> {
  const { token, attemptIds } = request
  const sql = `select unnest(seqs) from ${tables.schema}.leases where token = $1`
  const seqs = (await tables.connection.rows(sql, [toKey(token)])).map(([seq]) => Number(seq))
  const jobs = (await tables.jobsBySeq(seqs)).filter(({ lease }) => lease?.token === token)
  const turns = new Map(attemptIds.map((id, turn) => [id, turn]))
  const turnOf = (job: Job) => turns.get(job.lease!.attemptId) ?? 0
  return jobs.sort((a, b) => turnOf(a) - turnOf(b))
}

function inTurn(rows: Claimed[]): Claimed[] {
  return rows.sort((a, b) => a.n - b.n)
}

/** The cold parts as lists, where they were brought along. */
function coldRows(row: Row): ((i: number) => ColdRow | null) | null {
  const [ids, kinds, created, series, declared, joined] = row.slice(2)
  if (!joined) return null
  const [id, of, by] = [ids, series, declared].map(asList)
  const [kind, at] = [kinds, created].map(cells => cells!.slice(1, -1).split(','))
  const specs = fromDocumentsText(joined)
  return i => {
    const spec = specs[i]!
    return spec === ''
      ? null
      : [spec, by?.[i] ?? null, at![i]!, id![i]!, of?.[i] ?? null, kind![i]!]
  }
}

function asList(json: Cell | undefined): Cell[] | null {
  return json ? (JSON.parse(json) as Cell[]) : null
}

async function understood(
  tables: Tables,
  rows: readonly Claimed[],
  request: ClaimRequest,
): Promise<Job[]> {
  const jobs: (Job | null)[] = []
  let unknown = 0
  let missing = 0
  for (const row of rows) {
    let cold = tables.specs.find(row.seq, row.specAt)
    if (cold === null) {
      unknown++
      cold = broughtAlong(tables, row)
    }
    const job = cold === null ? null : claimed(tables, row, cold, request)
    jobs.push(job)
    if (job !== null) keepLease(tables, row.seq, job)
    else if (!tables.damaged.has(row.seq)) missing++
  }
  tables.bringsSpecs = unknown > 0
  return missing > 0 ? completed(tables, rows, jobs, request) : jobs.filter(job => job !== null)
}

function keepLease(tables: Tables, seq: number, job: Job): void {
  const { attemptId, claimedAt } = job.lease!
  tables.leased.set(job.id, { seq, fence: job.counters.fence, attemptId, claimedAt })
}

function broughtAlong(tables: Tables, { seq, specAt, cold: row }: Claimed): Cold | null {
  if (row === null) return null
  try {
    const cold = toCold(row)
    tables.specs.keep(seq, specAt, cold, row[0]!.length)
    return cold
  } catch (error) {
    tables.damaged.set(seq, damageOf(error, 'spec'))
    return null
  }
}

/** Null for a row that does not decode, which is noted. */
function claimed(tables: Tables, row: Claimed, cold: Cold, request: ClaimRequest): Job | null {
  if (row.body instanceof DamagedRecord) {
    tables.damaged.set(row.seq, row.body)
    return null
  }
  const { token, owner, now, leaseMs, attemptIds } = request
  const attemptId = attemptIds[row.n - 1]!
  const hot: Hot = {
    state: 'running',
    dueAt: null,
    // What waits does not expire, nor does what was just claimed.
    expireAt: null,
    attempts: row.attempts,
    fence: row.fence,
    version: row.version,
    body: row.body,
    lease: { token, owner, attemptId, claimedAt: now, until: now + leaseMs },
  }
  return toJob(hot, cold)
}

/** Specs that were not known are read with their rows, which may have been written since. */
async function completed(
  tables: Tables,
  rows: readonly Claimed[],
  jobs: readonly (Job | null)[],
  { token, attemptIds }: ClaimRequest,
): Promise<Job[]> {
  const missing = rows.filter((_, i) => jobs[i] === null).map(row => row.seq)
  const read = new Map<string, Job>()
  for (const job of await tables.jobsBySeq(missing)) {
    if (job.lease?.token === token) read.set(job.lease.attemptId, job)
  }
  return rows.flatMap((row, i) => jobs[i] ?? read.get(attemptIds[row.n - 1]!) ?? [])
}
