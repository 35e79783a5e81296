// A whole store moved to another: nothing doubled, nothing dropped, checked in the end. Until then
// every queue of the target is held, so that nobody starts on half a store.

import type { Change } from '../core/change.ts'
import { entryTypes, ownerOf, type Entry, type EntryType } from '../core/stored/entry.ts'
import { SchedulerError } from '../core/errors.ts'
import { failInvalid } from '../core/run/invalid.ts'
import type { Job } from '../core/job.ts'
import { settle } from '../core/run/settle.ts'
import type { Instant } from '../core/time.ts'
import type { Store } from '../store/port.ts'
import { readMarker, refuseOther, writeMarker, type Marker } from './marker.ts'
import { pagesOf, type PageOptions } from './pages.ts'
import { refuseInUse, refuseNotEmpty, runningJobs, type CopyEnd } from './ready.ts'
import { differing, Summing, type Sums } from './sums.ts'

export type { CopyEnd, Sums }

export const COPY_BATCH = 500

export interface CopyInput {
  readonly from: CopyEnd
  readonly to: CopyEnd
  /** Although nodes are at work on the source: what they do meanwhile may be in the copy or not. */
  readonly force?: boolean
  /** Entries read and written at a time, at most. */
  readonly batch?: number
  readonly onProgress?: (progress: CopyProgress) => void
  /** Stops between two batches; the same copy started again goes on. */
  readonly signal?: AbortSignal
}

export interface CopyProgress {
  /** The source counted, then copied; the target read back, then the source once more. */
  readonly phase: 'counting' | 'copying' | 'checking' | 'comparing'
  readonly done: Readonly<Record<EntryType, number>>
  /** Null while it is being found out. */
  readonly total: Readonly<Record<EntryType, number>> | null
}

export interface CopyReport {
  readonly from: string
  readonly to: string
  /** Equal on both sides. */
  readonly sums: Sums
  readonly isContinued: boolean
  /** Runs of dead nodes that are due again in the copy. */
  readonly abandoned: number
  /** Entries of a source at work that did not fit together. */
  readonly leftOut: number
  /** The source was written to meanwhile; only with `force`. */
  readonly hasChanged: boolean
}

export async function copyStore(input: CopyInput): Promise<CopyReport> {
  const { from, to, force = false } = input
  const marker = await readMarker(to.store)
  if (marker) refuseOther(marker, from.name, to.name)
  else await refuseNotEmpty(to)
  if (!force) await refuseInUse(from)
  const loaded =
    marker?.step === 'loaded'
      ? { sums: marker.sums, leftOut: 0, hasChanged: false }
      : await loadAll(input, marker)
  const abandoned = await abandonEnded(from.store, to.store)
  await release(input)
  await writeMarker(to.store, null)
  return {
    from: from.name,
    to: to.name,
    ...loaded,
    isContinued: marker !== null,
    abandoned,
  }
}

type Loaded = Pick<CopyReport, 'sums' | 'leftOut' | 'hasChanged'>

async function loadAll(input: CopyInput, marker: Marker | null): Promise<Loaded> {
  const { from, to, force = false } = input
  const counted = new Summing({ isCounting: true })
  await sumUp(input, {
    store: from.store,
    phase: 'counting',
    total: null,
    ...options(input, counted),
  })
  if (marker?.step !== 'held') await hold(input)
  const { written, read, leftOut } = await write(input, counted.counts)
  const after = await check(input, written.counts)
  const wrong = differing(written.sums, after.sums, entryTypes)
  if (wrong.length > 0) {
    const what = `${to.name} does not hold what was read from ${from.name}: ${wrong.join(', ')}`
    throw new SchedulerError('STORE_DIFFERS', `${what}; its queues stay paused`, {
      details: { types: wrong },
    })
  }
  const again = new Summing()
  const source = { store: from.store, phase: 'comparing', total: read.counts } as const
  await sumUp(input, { ...source, ...options(input, again) })
  const hasChanged = differing(read.sums, again.sums, entryTypes).length > 0
  if (hasChanged && !force) throw changed(input)
  if (!force) await refuseInUse(from)
  await writeMarker(to.store, { source: from.name, step: 'loaded', sums: written.sums })
  return { sums: written.sums, leftOut, hasChanged }
}

function changed({ from, to }: CopyInput): SchedulerError {
  const what = `${from.name} was written to while it was copied`
  return new SchedulerError('STORE_DIFFERS', `${what}; the queues of ${to.name} stay paused`)
}

interface Pass extends PageOptions, Pick<CopyProgress, 'phase' | 'total'> {
  readonly store: Store
}

async function sumUp({ onProgress }: CopyInput, pass: Pass): Promise<void> {
  const { store, phase, total, sums } = pass
  for await (const entries of pagesOf(store, pass)) {
    if (entries.length > 0) onProgress?.({ phase, done: sums.counts, total })
  }
}

/** The target as it will be once its queues are no longer held. */
async function check(input: CopyInput, total: CopyProgress['total']): Promise<Summing> {
  const { from, to } = input
  const paused = new Set(await from.store.pausedQueues())
  const asTold = (entry: Entry): Entry | null => {
    if (entry.type !== 'queue') return entry
    const isPaused = paused.has(entry.queue)
    return isPaused || entry.lane !== '' ? { ...entry, isPaused } : null
  }
  const sums = new Summing()
  await sumUp(input, {
    store: to.store,
    phase: 'checking',
    total,
    asTold,
    ...options(input, sums),
  })
  return sums
}

function options({ batch = COPY_BATCH, signal }: CopyInput, sums: Summing): PageOptions {
  return { batch, sums, ...(signal === undefined ? {} : { signal }) }
}

/** Every queue there is; no job is there while this is under way. */
async function hold(input: CopyInput): Promise<void> {
  const { from, to } = input
  await writeMarker(to.store, { source: from.name, step: 'begun' })
  const paused = new Set(await from.store.pausedQueues())
  const queues = await queuesOf(from.store)
  for (const queue of queues) await to.store.setQueuePaused(queue, paused.has(queue))
  await to.store.maintenance.load(await queueEntries(input, from.store), await to.store.now())
  for (const queue of queues) await to.store.setQueuePaused(queue, true)
  await writeMarker(to.store, { source: from.name, step: 'held' })
}

async function queuesOf(store: Store): Promise<string[]> {
  const counts = await store.counts()
  return [...new Set([...counts.map(({ queue }) => queue), ...(await store.pausedQueues())])]
}

/** They come first in a dump. */
async function queueEntries(input: CopyInput, store: Store): Promise<Entry[]> {
  const found: Entry[] = []
  for await (const entries of pagesOf(store, options(input, new Summing()))) {
    if (entries[0]!.type !== 'queue') break
    found.push(...entries)
  }
  return found
}

interface Writing {
  readonly read: Summing
  readonly written: Summing
  readonly leftOut: number
}

async function write(
  input: CopyInput,
  total: Readonly<Record<EntryType, number>>,
): Promise<Writing> {
  const { from, to, force = false } = input
  const read = new Summing()
  const written = force ? new Summing() : read
  let leftOut = 0
  const now = await to.store.now()
  for await (const entries of pagesOf(from.store, options(input, read))) {
    const fitting = force ? await fittingOf(to.store, entries) : entries
    leftOut += entries.length - fitting.length
    if (force) for (const entry of fitting) written.add(entry)
    await to.store.maintenance.load(
      fitting.filter(({ type }) => type !== 'queue'),
      now,
    )
    input.onProgress?.({ phase: 'copying', done: written.counts, total })
  }
  return { read, written, leftOut }
}

/** A source at work tells of jobs at one moment and of their history at a later one. */
async function fittingOf(store: Store, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const owners = [...new Set(entries.flatMap(entry => ownerOf(entry) ?? []))]
  if (owners.length === 0) return entries
  const jobs = new Map((await store.get(owners)).map(job => [job.id, job]))
  return entries.filter(entry => {
    const owner = ownerOf(entry)
    const job = owner === null ? null : jobs.get(owner)
    if (job === undefined) return false
    return job === null || entry.type !== 'attempt' || isSettled(job, entry.attempt.number)
  })
}

/** The last number of a running job is that of the attempt still open. */
function isSettled({ counters, lease }: Job, number: number): boolean {
  return number <= counters.attempts - (lease === null ? 0 : 1)
}

/** Runs of nodes that are gone are due again at once; a lease that still holds is left alone. */
async function abandonEnded(from: Store, to: Store): Promise<number> {
  const ended = await from.now()
  let count = 0
  for await (const jobs of runningJobs(to)) {
    const now = await to.now()
    const changes = jobs
      .filter(({ lease }) => lease !== null && lease.until <= ended)
      .map(job => abandon(job, now))
    const { results } = await to.commit(changes, { now })
    const isDone = results.every(result => result === 'committed')
    if (!isDone) throw new SchedulerError('STORE_IN_USE', 'someone else writes to the copy')
    count += changes.length
  }
  return count
}

function abandon(job: Job, now: Instant): Change {
  try {
    return settle(job, { outcome: { kind: 'abandoned' }, startedAt: job.lease!.claimedAt }, now)
  } catch (error) {
    return failInvalid(job, error, now)
  }
}

/** From here on nodes may work on the copy. */
async function release({ from, to }: CopyInput): Promise<void> {
  const paused = new Set(await from.store.pausedQueues())
  for (const queue of await queuesOf(to.store)) {
    if (!paused.has(queue)) await to.store.setQueuePaused(queue, false)
  }
}
