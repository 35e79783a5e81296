// Notices that the store's clock was set back, opens a clock epoch for all nodes, and puts the waiting
// jobs right. One node wins the epoch by its record; whoever finds it unrepaired goes on with it.

import { afterClockStep } from '../core/clock/clock-step.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { CLOCK_KIND, type RecordWrite } from '../core/record.ts'
import {
  CLOCK_STEP_MS,
  formatDuration,
  HOUR,
  isAheadOfClock,
  type Instant,
  type Millis,
} from '../core/time.ts'
import type { Measured } from '../runtime/clock.ts'
import type { Page } from '../store/port.ts'
import type { Parts } from './parts.ts'

type EpochParts = Pick<Parts, 'store' | 'clock' | 'wake' | 'events' | 'settings' | 'troubles'>

const STEP_CODE = 'clock_set_back'
const LAST = 'last'
const EPOCH = 'epoch'
/** Answers of the store may be so much apart for two nodes that look at the same step. */
const SLACK_MS: Millis = 5_000
/** A repair that is not done after so long has lost its node. */
const REPAIR_MS: Millis = 60_000
/** How long /attention shows the step. */
const TOLD_MS: Millis = HOUR

interface ClockEpoch {
  readonly epoch: number
  readonly openedAt: Instant
  readonly backMs: Millis
  /** The latest time found in the store when the epoch opened: later starts know it is explained. */
  readonly until: Instant
  readonly isRepaired: boolean
}

interface ClockRecords {
  readonly lastAt: Instant | null
  readonly epoch: ClockEpoch | null
  readonly version: number
}

/** What is written with the record of a node: the latest time anyone saw. */
export function lastSeen(at: Instant): RecordWrite {
  return { kind: CLOCK_KIND, key: LAST, value: { at }, expectedVersion: null, expireAt: null }
}

/** Says so for an hour: called from time to time. */
export function forgetStep({ clock, troubles }: Pick<Parts, 'clock' | 'troubles'>): void {
  const told = troubles.list.find(({ code }) => code === STEP_CODE)
  if (told && clock.now() - told.since >= TOLD_MS) troubles.clear(STEP_CODE)
}

/** At a start: nobody measured meanwhile, so the times that were written are the evidence. */
export async function findStepAtStart(parts: EpochParts): Promise<void> {
  const { store, clock } = parts
  const now = clock.now()
  const found = await readRecords(parts)
  const written = await latestWritten(parts)
  const isExplained = written <= (found.epoch?.until ?? -Infinity)
  const evidence = Math.max(found.lastAt ?? -Infinity, isExplained ? -Infinity : written)
  if (isAheadOfClock(evidence, now)) {
    await open(parts, found, { backMs: evidence - now, until: Math.max(evidence, written) })
  } else if (found.epoch !== null && !found.epoch.isRepaired) {
    if (now - found.epoch.openedAt >= REPAIR_MS) await repair(parts, found.epoch)
  }
  await store.putRecords([lastSeen(clock.now())], clock.now())
}

/** Measures the store's clock while a node runs, and acts when it was set back. */
export class ClockWatch {
  readonly #parts: EpochParts
  /** When to look again for what the clock before a step left. */
  #repairAt: Millis = Infinity

  constructor(parts: EpochParts) {
    this.#parts = parts
  }

  async measure(): Promise<void> {
    const { clock, store, settings } = this.#parts
    const measured = await clock.measure(() => store.now())
    if (measured.backMs >= CLOCK_STEP_MS) {
      this.#repairAt = clock.monotonic() + settings.leaseMs
      await openEpoch(this.#parts, measured)
    } else if (clock.monotonic() >= this.#repairAt) {
      this.#repairAt = Infinity
      await repairAgain(this.#parts)
    }
  }
}

/** While running: the clock was measured and had been set back. */
async function openEpoch(parts: EpochParts, { backMs, elapsedMs }: Measured): Promise<void> {
  const found = await readRecords(parts)
  const now = parts.clock.now()
  const { epoch } = found
  const isKnown =
    epoch !== null &&
    epoch.openedAt >= now - elapsedMs - SLACK_MS &&
    epoch.openedAt <= now + SLACK_MS
  if (!isKnown) await open(parts, found, { backMs, until: now + backMs })
}

/**
 * Some time after a step: what was decided by the earlier clock and written after the repair, by a
 * node that waited for the store, is put right too. Every node does it, in case others are gone.
 */
async function repairAgain(parts: EpochParts): Promise<void> {
  const { epoch } = await readRecords(parts)
  if (epoch !== null) await repair(parts, epoch, SLACK_MS)
}

/** The newest attempt and the newest job: by what they say, the clock was there. */
async function latestWritten({ store }: EpochParts): Promise<Instant> {
  const newest = { limit: 1, newestFirst: true } as const
  const [attempts, jobs] = await Promise.all([store.attempts({}, newest), store.list({}, newest)])
  return Math.max(
    ...attempts.items.map(({ finishedAt }) => finishedAt),
    ...jobs.items.flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt]),
    -Infinity,
  )
}

async function readRecords({ store, clock }: EpochParts): Promise<ClockRecords> {
  const records = await store.getRecords(CLOCK_KIND, [LAST, EPOCH], clock.now())
  const byKey = new Map(records.map(record => [record.key, record]))
  const last = byKey.get(LAST)?.value as { at: Instant } | undefined
  const epoch = byKey.get(EPOCH)
  return {
    lastAt: last?.at ?? null,
    epoch: epoch === undefined ? null : (epoch.value as unknown as ClockEpoch),
    version: epoch?.version ?? 0,
  }
}

async function open(
  parts: EpochParts,
  found: ClockRecords,
  { backMs, until }: { backMs: Millis; until: Instant },
): Promise<void> {
  const { store, clock, events, troubles } = parts
  const openedAt = clock.now()
  const epoch = (found.epoch?.epoch ?? 0) + 1
  // What an earlier step explains stays explained.
  const latest = Math.max(until, found.epoch?.until ?? -Infinity)
  const value: ClockEpoch = { epoch, openedAt, backMs, until: latest, isRepaired: false }
  const [result] = await store.putRecords(
    [epochWrite(value, found.version), lastSeen(openedAt)],
    openedAt,
  )
  if (result !== 'put') return
  events.emit('clockSetBack', { backMs, epoch })
  troubles.raise({
    code: STEP_CODE,
    message:
      `The clock was set back by ${formatDuration(backMs)}. Schedules continue by the new time; ` +
      'calendar times that come again run again.',
    level: 'warn',
    isBlocking: false,
  })
  await repair(parts, value)
}

function epochWrite(value: ClockEpoch, expectedVersion: number | null): RecordWrite {
  return { kind: CLOCK_KIND, key: EPOCH, value: { ...value }, expectedVersion, expireAt: null }
}

/** Every job that waits or runs, in pages; doing it twice changes nothing. */
async function repair(parts: EpochParts, epoch: ClockEpoch, slackMs: Millis = 0): Promise<void> {
  const { store, clock, wake } = parts
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list(
      { states: ['waiting', 'running'] },
      { limit: limits.pageMax, cursor },
    )
    const now = clock.now()
    // Clocks of nodes are a little apart: a repair long after the step leaves what was just written.
    const left = page.items.filter(({ updatedAt }) => updatedAt > now + slackMs)
    const changes = left.flatMap(job => afterClockStep(job, epoch, now) ?? [])
    if (changes.length > 0) await store.commit(changes, { now })
    await shiftLeases(parts, page.items, epoch.backMs)
    cursor = page.cursor
  } while (cursor !== null)
  await store.putRecords([epochWrite({ ...epoch, isRepaired: true }, null)], clock.now())
  wake.notify()
}

/** A dead holder's lease would last as long as the clock was ahead; a live one renews it anyway. */
async function shiftLeases(
  { store, clock, settings }: EpochParts,
  jobs: readonly Job[],
  backMs: Millis,
): Promise<void> {
  const least = clock.now() + settings.leaseMs
  const byUntil = new Map<Instant, { id: string; token: string; fence: number }[]>()
  for (const { id, lease, counters } of jobs) {
    if (lease === null || lease.until <= least) continue
    const until = Math.max(least, lease.until - backMs)
    const leases = byUntil.get(until) ?? []
    leases.push({ id, token: lease.token, fence: counters.fence })
    byUntil.set(until, leases)
  }
  for (const [until, leases] of byUntil) await store.renew({ leases, until })
}
