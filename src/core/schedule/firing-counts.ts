// How many firings of jobs lie in each part of a window: by arithmetic for intervals, by one list
// for all jobs of one cron expression. Stepping is left to jobs whose firings are spread.

import { comingOf, firstComing, runsLeft, type Coming, type Window } from './coming.ts'
import type { Job } from '../job.ts'
import { emptyParts } from '../stored/query.ts'
import type { Instant, Millis } from '../time.ts'
import { compileCron, gridNext, isGrid, type CronTrigger } from './trigger.ts'

/** Firings that are stepped through for one question; beyond them it knows no more. */
export const STEPS_MAX = 50_000

/** A window in equal parts, with what is counted in each. */
export class PartCounts {
  readonly window: Window
  readonly widthMs: Millis
  readonly counts: number[]

  constructor(window: Window, widthMs: Millis, counts?: number[]) {
    this.window = window
    this.widthMs = widthMs
    this.counts = counts ?? emptyParts({ ...window, widthMs })
  }

  add(at: Instant, times = 1): void {
    const { from, until } = this.window
    if (at >= from && at < until) this.counts[Math.floor((at - from) / this.widthMs)]! += times
  }

  /** start, start + every, … as many as `count`, none after `last`. */
  addEvery({ start, everyMs, count, last }: Repeats): void {
    const { from, until } = this.window
    const most = count === Infinity ? Infinity : start + count * everyMs
    const end = Math.min(until, last + 1, most)
    const behind = Math.max(0, Math.ceil((from - start) / everyMs))
    if (everyMs >= this.widthMs) {
      for (let at = start + behind * everyMs; at < end; at += everyMs) this.add(at)
      return
    }
    const before = (at: Instant) => Math.max(0, Math.ceil((at - start) / everyMs))
    let passed = behind
    for (let part = 0; part < this.counts.length; part++) {
      const partEnd = Math.min(end, from + (part + 1) * this.widthMs)
      const next = before(partEnd)
      if (next > passed) this.counts[part]! += next - passed
      if (partEnd === end) return
      passed = Math.max(passed, next)
    }
  }
}

interface Repeats {
  readonly start: Instant
  readonly everyMs: Millis
  readonly count: number
  readonly last: Instant
}

interface CronFirings {
  readonly list: readonly Instant[]
  /** Until when the list has them all. */
  readonly until: Instant
  /** How many more jobs fire from a place in the list on; less where that many end. */
  readonly changes: Int32Array
}

/** Counts the firings of one job after another into the same parts; `finish` gives the first. */
export class FiringCounts {
  readonly #grids: readonly PartCounts[]
  readonly #window: Window
  readonly #now: Instant
  #crons = new Map<string, CronFirings>()
  #steps = { left: STEPS_MAX }
  /** Firings of the jobs that were added are all counted before this. */
  completeUntil: Instant

  /** The parts may differ, the longest window is that of the first. */
  constructor(grids: readonly PartCounts[], now: Instant) {
    this.#grids = grids
    this.#window = grids[0]!.window
    this.#now = now
    this.completeUntil = this.#window.until
  }

  /** Counts into other parts of the same window, with the lists that are known already. */
  again(grid: PartCounts): FiringCounts {
    const other = new FiringCounts([grid], this.#now)
    other.#crons = this.#crons
    other.#steps = this.#steps
    return other
  }

  /** All its firings in the window; with `isDueCounted` without the one it is due for. */
  add(job: Job, isDueCounted: boolean): void {
    const first = firstComing(job, this.#now)
    if (first === null) return
    const left = runsLeft(job)
    if (left <= 0) return
    // A hold only makes its firing due later.
    const isCounted = isDueCounted && (job.dueAt === first.at || job.hold !== null)
    if (job.spec.jitterMs > 0) return this.#addSpread(job, isCounted ? first.at : null)
    const last = Math.min(job.spec.endAt ?? Infinity, this.#window.until - 1)
    if (first.firing > last) return
    if (!isCounted) for (const grid of this.#grids) grid.add(first.at)
    this.#addRepeats(job, first, { count: left - 1, last })
  }

  #addRepeats(job: Job, first: Coming, { count, last }: Pick<Repeats, 'count' | 'last'>): void {
    const { trigger } = job.spec
    if (trigger.kind === 'once' || trigger.kind === 'manual') return
    if (trigger.kind === 'cron') return this.#addCron(trigger, first.firing, { count, last })
    const start = isGrid(trigger)
      ? gridNext(trigger, job.nextAt ?? first.firing, first.firing)!
      : first.at + trigger.everyMs
    for (const grid of this.#grids) {
      grid.addEvery({ start, everyMs: trigger.everyMs, count, last })
    }
  }

  #addCron(trigger: CronTrigger, after: Instant, bounds: Pick<Repeats, 'count' | 'last'>): void {
    const { list, until, changes } = this.#cronFirings(trigger)
    this.completeUntil = Math.min(this.completeUntil, until)
    // A limit counts from the next firing on, so those before the window use it up too.
    const before = after < this.#window.from ? this.#countBefore(trigger, after, bounds.count) : 0
    const from = firstAfter(list, Math.max(after, this.#window.from - 1))
    const to = Math.min(firstAfter(list, bounds.last), from + bounds.count - before)
    if (to <= from) return
    changes[from]!++
    changes[to]!--
  }

  /** The lists of cron firings are counted once, whatever number of jobs share them. */
  finish(): readonly number[] {
    for (const { list, changes } of this.#crons.values()) {
      let jobs = 0
      for (const [at, moment] of list.entries()) {
        jobs += changes[at]!
        if (jobs > 0) for (const grid of this.#grids) grid.add(moment, jobs)
      }
      changes.fill(0)
    }
    return this.#grids[0]!.counts
  }

  #countBefore(trigger: CronTrigger, after: Instant, most: number): number {
    if (most === Infinity) return 0
    return compileCron(trigger).count(after, this.#window.from - 1)
  }

  #cronFirings(trigger: CronTrigger): CronFirings {
    const key = JSON.stringify([trigger.expression, trigger.zone, trigger.dialect, trigger.dst])
    const known = this.#crons.get(key)
    if (known) return known
    const { from, until } = this.#window
    const cron = compileCron(trigger)
    const list: Instant[] = []
    let at = cron.next(from - 1)
    for (; at !== null && at < until && this.#steps.left > 0; this.#steps.left--) {
      list.push(at)
      at = cron.next(at)
    }
    const isWhole = at === null || at >= until
    const made = { list, until: isWhole ? until : at!, changes: new Int32Array(list.length + 1) }
    this.#crons.set(key, made)
    return made
  }

  /** Where each firing goes is drawn anew, so each is looked at. */
  #addSpread(job: Job, counted: Instant | null): void {
    for (const { at } of comingOf(job, this.#window, this.#now)) {
      if (this.#steps.left-- <= 0) {
        this.completeUntil = Math.min(this.completeUntil, at)
        return
      }
      if (at !== counted) for (const grid of this.#grids) grid.add(at)
    }
  }
}

/** The place of the first one after a moment in a sorted list. */
function firstAfter(list: readonly Instant[], moment: Instant): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]! > moment) high = middle
    else low = middle + 1
  }
  return low
}
