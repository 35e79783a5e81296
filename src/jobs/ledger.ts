// The decisions of one schedule. A store lists them by their times; once the clock was set back, times
// come again, and the decisions of each clock epoch are put together here.

import { compareDecisions, skipKind, skipOfRecord } from '../core/clock/clock-epoch.ts'
import { ownEntry } from '../core/history/kept.ts'
import { runEntry, type LedgerEntry } from '../core/history/ledger.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Instant } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Page, Store } from '../store/port.ts'

interface LedgerParts {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
}

/** Every decision, in the order of clock epochs and, within each, of their times. */
export async function* readLedger(
  { store, clock }: LedgerParts,
  jobId: string,
): AsyncGenerator<LedgerEntry, void, void> {
  const entries = pages(cursor => store.ledger(jobId, { limit: limits.pageMax, cursor }))
  const [job] = await store.get([jobId])
  if (job === undefined || job.clockEpoch === 0) yield* entries
  else yield* await readEpochs(store, job, { entries, now: clock.now() })
}

/** All of it in memory: retention bounds it, and clocks are seldom set back. */
async function readEpochs(
  store: Store,
  job: Job,
  { entries, now }: { entries: AsyncIterable<LedgerEntry>; now: Instant },
): Promise<LedgerEntry[]> {
  const found = new Map<string, LedgerEntry>()
  const add = (entry: LedgerEntry) => found.set(`${entry.clockEpoch ?? 0} ${entry.from}`, entry)
  const { id: jobId } = job
  const own = ownEntry(job)
  for await (const attempt of pages(cursor =>
    store.attempts({ jobId }, { limit: limits.pageMax, cursor }),
  )) {
    const entry = runEntry(attempt)
    if (entry !== null) add(entry)
  }
  const isTold = [...found.values()].some(one => isSameRun(one, own))
  if (own !== null && !isTold) add(own)
  for await (const entry of entries) if (entry.decision === 'skip') add(entry)
  for await (const record of pages(cursor =>
    store.listRecords(skipKind(jobId), { limit: limits.pageMax, cursor }, now),
  )) {
    add({ decision: 'skip', ...skipOfRecord(jobId, record) })
  }
  return [...found.values()].sort(compareDecisions)
}

function isSameRun(a: LedgerEntry, b: LedgerEntry | null): boolean {
  return a.decision === 'run' && b?.decision === 'run' && a.run === b.run
}

/** Page after page. */
export async function* pages<T>(
  read: (cursor: string | null) => Promise<Page<T>>,
): AsyncGenerator<T, void, void> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor)
    yield* page.items
    cursor = page.cursor
  } while (cursor !== null)
}
