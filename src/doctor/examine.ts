// A store from all sides: what it finds wrong itself, every job, the nodes, the clocks.

import { COPY_KIND } from '../copy/pages.ts'
import { DAMAGED_KIND, isDamaged, isRestorable, restoreJob } from '../core/stored/damage.ts'
import type { Entry } from '../core/stored/entry.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { NODE_KIND, removalOf, type StoredRecord } from '../core/record.ts'
import {
  DAY,
  formatDuration,
  iso,
  MINUTE,
  SECOND,
  type Instant,
  type Millis,
} from '../core/time.ts'
import type { Ids } from '../runtime/ids.ts'
import type { Page, Store } from '../store/port.ts'
import type { FaultKind } from '../store/maintenance.ts'
import type { Finding } from './finding.ts'
import { faultOf } from './jobs.ts'

export interface Examined {
  readonly store: Store
  readonly ids: Ids
  /** This machine's time. */
  readonly now: () => Instant
  readonly signal?: AbortSignal
  readonly onProgress?: (jobs: number) => void
}

/** Faults of one kind that are told one by one. */
const EACH_MAX = 100
const SKEW_MS: Millis = SECOND
const PAUSED_LONG_MS: Millis = 7 * DAY
const CROWD = 30
/** A node that is gone leaves its record to be pruned by others. */
const DEAD_MS: Millis = 5 * MINUTE

export async function examine(parts: Examined): Promise<Finding[]> {
  const { store } = parts
  const skew = await clocks(parts)
  const found = await inside(store)
  if (found.some(({ code }) => code === 'damage')) return [...skew, ...found]
  const { records, jobs } = await everything(parts)
  const now = await store.now()
  // Reading sets damaged records aside, which puts right what was wrong because of them.
  const isChanged = jobs.some(({ code }) => code === 'damaged')
  return [
    ...skew,
    ...(isChanged ? await inside(store) : found),
    ...jobs,
    ...(await damagedRecords(store, now)),
    ...deadNodes(store, records, now),
    ...(await unserved(store, records, now)),
  ]
}

async function clocks({ store, now }: Examined): Promise<Finding[]> {
  const before = now()
  const there = await store.now()
  const skew = there - (before + now()) / 2
  if (Math.abs(skew) <= SKEW_MS) return []
  const text = `the clock of the store differs from this machine's by ${formatDuration(Math.abs(skew))}`
  return [warning('clock-skew', text, 'let both follow a time server')]
}

const remedies: Readonly<Record<FaultKind, string | null>> = {
  moment: 'puts it where it belongs',
  lease: 'writes the record anew',
  count: 'counts again',
  list: 'lists it anew',
  orphan: 'removes them',
  number: 'goes on behind the last one',
  marker: 'takes over the keys that are there',
  damage: null,
}

async function inside(store: Store): Promise<Finding[]> {
  const faults = await store.maintenance.inspect(EACH_MAX)
  return faults.map(fault => ({
    code: fault.kind,
    severity: 'error',
    text: fault.about,
    jobId: null,
    remedy: remedies[fault.kind],
    repair:
      fault.kind === 'damage'
        ? null
        : async () => {
            await store.maintenance.repair(fault)
            return true
          },
  }))
}

interface Seen {
  readonly jobs: readonly Finding[]
  readonly records: readonly StoredRecord[]
}

async function everything(parts: Examined): Promise<Seen> {
  const { store, signal, onProgress } = parts
  const now = await store.now()
  const found: Finding[] = []
  const crowds = new Map<number, number>()
  let cursor: string | null = null
  let count = 0
  do {
    signal?.throwIfAborted()
    const page: Page<Job> = await store.list({}, { limit: limits.pageMax, cursor })
    for (const job of page.items) {
      const finding = jobFinding(parts, job, now)
      if (finding !== null) found.push(finding)
      if (
        job.state === 'waiting' &&
        job.dueAt !== null &&
        job.dueAt > now &&
        job.spec.jitterMs === 0
      ) {
        const minute = Math.floor(job.dueAt / MINUTE) * MINUTE
        crowds.set(minute, (crowds.get(minute) ?? 0) + 1)
      }
    }
    count += page.items.length
    onProgress?.(count)
    cursor = page.cursor
  } while (cursor !== null)
  return { jobs: [...found, ...crowded(crowds)], records: await allRecords(store) }
}

function jobFinding(parts: Examined, job: Job, now: Instant): Finding | null {
  const name = `job ${job.spec.name} (${job.id})`
  if (isDamaged(job)) return damagedFinding(parts, job, name)
  const fault = faultOf(job, now)
  if (fault !== null) {
    return {
      code: fault.code,
      severity: 'error',
      text: `${name} ${fault.text}`,
      jobId: job.id,
      remedy: fault.remedy,
      repair: at => repaired(parts, job.id, fault.code, at),
    }
  }
  const since = job.state === 'paused' ? (job.pause?.at ?? null) : null
  if (since === null || now - since < PAUSED_LONG_MS || job.pause?.until != null) return null
  const text = `${name} is paused for ${formatDuration(now - since)}`
  return { ...warning('paused-long', text, 'carillon resume'), jobId: job.id }
}

/** A record that does not decode: started over where its spec is whole, removed otherwise. */
function damagedFinding(parts: Examined, job: Job, name: string): Finding {
  const remedy = isRestorable(job)
    ? 'starts it over from its spec'
    : 'removes it; create or declare it again'
  return {
    code: 'damaged',
    severity: 'error',
    text: `${name} has a damaged record: ${job.lastError?.message ?? 'unreadable'}`,
    jobId: job.id,
    remedy,
    repair: at => repairedRecord(parts, job.id, at),
  }
}

/** Records beside the jobs that did not decode: set aside, and written anew by those who need them. */
async function damagedRecords(store: Store, now: Instant): Promise<Finding[]> {
  const { items } = await store.listRecords(DAMAGED_KIND, { limit: EACH_MAX }, now)
  return items.flatMap((held): Finding[] => {
    const { record, reason } = held.value as Partial<SetAside>
    if (record === undefined) return []
    return [
      {
        code: 'damaged',
        severity: 'error',
        text: `record ${record.kind} ${record.key} was unreadable and is set aside: ${reason}`,
        jobId: null,
        remedy: 'removes what is left of it',
        repair: async at => (await store.putRecords([removalOf(held)], at))[0] === 'put',
      },
    ]
  })
}

interface SetAside {
  readonly record: Pick<StoredRecord, 'kind' | 'key'>
  readonly reason: string
}

async function repairedRecord({ store }: Examined, id: string, now: Instant): Promise<boolean> {
  const [job] = await store.get([id])
  if (job === undefined || !isDamaged(job)) return false
  const record = { kind: DAMAGED_KIND, key: id, value: null, expireAt: null, remove: true }
  const forget = [{ ...record, expectedVersion: null }]
  if (!isRestorable(job)) return (await store.remove([id], { now, records: forget }))[0]!
  const { items } = await store.attempts({ jobId: id }, { limit: 1, newestFirst: true })
  const restored = restoreJob(job, items[0]?.number ?? 0, now)
  const [result] = (await store.commit([{ ...restored, records: forget }], { now })).results
  return result === 'committed'
}

/** Read and decided again: what was seen may be long ago. */
async function repaired(
  { store, ids }: Examined,
  id: string,
  code: string,
  now: Instant,
): Promise<boolean> {
  const [job] = await store.get([id])
  const fault = job === undefined ? null : faultOf(job, now)
  if (job === undefined || fault === null || fault.code !== code) return false
  const [result] = (await store.commit([fault.repair(job, now, ids.next(now))], { now })).results
  return result === 'committed'
}

function crowded(crowds: ReadonlyMap<number, number>): Finding[] {
  const [minute, count] = [...crowds].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])
  if (count < CROWD) return []
  return [warning('crowd', `${count} jobs are due at ${iso(minute)}`, 'add jitter')]
}

/** Also those that have lapsed, which a list leaves out. */
async function allRecords(store: Store): Promise<StoredRecord[]> {
  const found: StoredRecord[] = []
  let cursor: string | null = 'record'
  while (cursor !== null) {
    const page: Page<Entry> = await store.maintenance.dump({ cursor, limit: limits.pageMax })
    for (const entry of page.items) {
      if (entry.type !== 'record') continue
      if (entry.record.kind === NODE_KIND || entry.record.kind === COPY_KIND)
        found.push(entry.record)
    }
    cursor = page.cursor
  }
  return found
}

function deadNodes(store: Store, records: readonly StoredRecord[], now: Instant): Finding[] {
  return records
    .filter(
      ({ kind, expireAt }) => kind === NODE_KIND && expireAt !== null && expireAt < now - DEAD_MS,
    )
    .map(({ key, version, expireAt }) => ({
      code: 'dead-node',
      severity: 'error',
      text: `node ${key} is gone since ${iso(expireAt!)} and is still listed`,
      jobId: null,
      remedy: 'removes its record',
      repair: async at => {
        const write = { kind: NODE_KIND, key, value: null, expireAt: null, remove: true }
        const [result] = await store.putRecords([{ ...write, expectedVersion: null }], at)
        return result === 'put' && version > 0
      },
    }))
}

/** Work that nobody can do. */
async function unserved(
  store: Store,
  records: readonly StoredRecord[],
  now: Instant,
): Promise<Finding[]> {
  const found: Finding[] = []
  if (records.some(({ kind }) => kind === COPY_KIND)) {
    const text = 'an unfinished copy into this store holds its queues'
    found.push({
      ...warning('unfinished-copy', text, 'finish carillon store copy'),
      severity: 'error',
    })
  }
  const alive = records.filter(
    ({ kind, expireAt }) => kind === NODE_KIND && (expireAt === null || expireAt > now),
  )
  const waiting = (await store.counts()).filter(
    ({ state, count }) => state === 'waiting' && count > 0,
  )
  if (waiting.length === 0) return found
  if (alive.length === 0) {
    return [
      ...found,
      warning('no-node', 'no node is at work on this store', 'start carillon serve or worker'),
    ]
  }
  const served = new Set(
    alive.flatMap(
      ({ value }) => (value as { handlers?: readonly string[] } | null)?.handlers ?? [],
    ),
  )
  const unbound = waiting.filter(({ handler }) => !served.has(handler))
  for (const { handler, count } of unbound) {
    const text = `${count} jobs wait for the handler ${handler}, which no node has`
    found.push(warning('unbound-handler', text, 'start a node that has it'))
  }
  return found
}

function warning(code: string, text: string, remedy: string): Finding {
  return { code, severity: 'warning', text, jobId: null, remedy, repair: null }
}
