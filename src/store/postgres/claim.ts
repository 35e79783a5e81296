// Due and waiting → running. The server decides who is next, by the rules of core/fair; what it
// does not send along is known here already.

import type { Job } from '../../core/job.ts'
import type { ClaimRequest } from '../store.ts'
import { fromDocumentsText, fromNumbers, texts } from './arrays.ts'
import type { Cell, ColdRow, Row } from './columns.ts'
import type { Value } from './connection.ts'
import { toJob, type Cold, type Hot } from '../shared/job.ts'
import { toCold } from './record.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

/** Timed jobs made ready in one claim; what is due later than these has to wait its turn. */
export const BITE = 2_000
const BITE_FACTOR = 4

export async function claim(tables: Tables, request: ClaimRequest): Promise<Job[]> {
  if (!canGive(request)) return []
  const values = claimValues(tables, request)
  const places = values.map((_, i) => `$${i + 1}`).join(', ')
  const sql = `select * from ${tables.schema}.${claimName(request)}(${places})`
  const [row] = await tables.connection.call(sql, values)
  return row ? claimedJobs(tables, row, request) : []
}

export function canGive({ limit, handlers }: ClaimRequest): boolean {
  return limit > 0 && handlers.length > 0
}

export function claimName(request: ClaimRequest): string {
  return isRuled(request) ? 'claim_ruled_1' : 'claim_2'
}

function isRuled(request: ClaimRequest): boolean {
  return request.isRuled === true || request.within !== undefined
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
    texts(request.attemptIds.map(toKey)),
    Math.max(BITE, BITE_FACTOR * request.limit),
    tables.bringsSpecs,
    tables.asksServer,
    ...(isRuled(request) ? ruledValues(request) : []),
  ]
}

/** What the function answers with, claimed at the moment that judged what is due. */
export function claimedJobs(tables: Tables, row: Row, request: ClaimRequest): Promise<Job[]> {
  const brought = isRuled(request) ? asDocument(row) : asTexts(row)
  // It may be the server's.
  const now = Number(row[isRuled(request) ? 9 : 8])
  return understood(tables, claimedRows(row, brought), { ...request, now })
}

/** Behind every key there can be. */
const EVERY_LANE = { from: '', until: '\u{10ffff}' }

function ruledValues({ within }: ClaimRequest): Value[] {
  const spans = within?.spans.map(({ from, until }) => ({ from: toKey(from), until: toKey(until) }))
  const asked = spans ?? [EVERY_LANE]
  return [
    texts(asked.map(({ from }) => from)),
    texts(asked.map(({ until }) => until)),
    within ? toKey(within.turn.lane) : null,
    within?.turn.taken ?? 0,
  ]
}

/** A job as a claim tells it; `n` counts from one in the order they should start. */
interface Claimed {
  readonly n: number
  readonly seq: number
  readonly specAt: number
  readonly expireAt: number | null
  readonly attempts: number
  readonly fence: number
  readonly version: number
  readonly body: string
  readonly cold: ColdRow | null
}

/** The cold part of the job at a place of the lists, where it was brought along. */
type Brought = (at: number, n: number) => ColdRow | null

const nothing: Brought = () => null

/** As `claim_ruled_1` sends them: a JSON list for each, with its turn. */
function asDocument(row: Row): Brought {
  if (!row[8]) return nothing
  const all = JSON.parse(row[8]) as [number, ...ColdRow][]
  const byTurn = new Map(all.map(([n, ...cold]): [number, ColdRow] => [n, cold]))
  return (_, n) => byTurn.get(n) ?? null
}

/** As `claim_2` sends them: lists like the others. */
function asTexts(row: Row): Brought {
  const [ids, kinds, created, series, declared, joined] = row.slice(9)
  if (!joined) return nothing
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

function claimedRows(row: Row, brought: Brought): Claimed[] {
  const [ns, seqs, specAts, expires, attempts, fences, versions] = row.slice(0, 7).map(fromNumbers)
  const bodies = fromDocumentsText(row[7]!)
  const rows = bodies.map((body, i): Claimed => {
    const n = ns![i]!
    return {
      n,
      seq: seqs![i]!,
      specAt: specAts![i]!,
      expireAt: expires![i]!,
      attempts: attempts![i]!,
      fence: fences![i]!,
      version: versions![i]!,
      body,
      cold: brought(i, n),
    }
  })
  return rows.sort((a, b) => a.n - b.n)
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
    const job = cold === null ? null : claimed(row, cold, request)
    jobs.push(job)
    if (job === null) missing++
    else keepLease(tables, row.seq, job)
  }
  tables.bringsSpecs = unknown > 0
  return missing > 0 ? completed(tables, rows, jobs, request) : (jobs as Job[])
}

function keepLease(tables: Tables, seq: number, job: Job): void {
  const { attemptId, claimedAt } = job.lease!
  tables.leased.set(job.id, { seq, fence: job.counters.fence, attemptId, claimedAt }, 1)
}

function broughtAlong(tables: Tables, { seq, specAt, cold: row }: Claimed): Cold | null {
  if (row === null) return null
  const cold = toCold(row)
  tables.specs.keep(seq, specAt, cold, row[0].length)
  return cold
}

function claimed(row: Claimed, cold: Cold, request: ClaimRequest): Job {
  const { token, owner, now, leaseMs, attemptIds } = request
  const attemptId = attemptIds[row.n - 1]!
  const hot: Hot = {
    state: 'running',
    dueAt: null,
    expireAt: row.expireAt,
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
