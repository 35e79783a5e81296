// The marks of a timeline's rows: runs one by one, those that lie too close drawn as one, or sums of
// many with the share that failed.

import type { TimelineRow } from '../../data/reads.ts'
import type { Window } from './window.ts'

export type Grouping = 'job' | 'tenant' | 'node'
export type TimelineBar = TimelineRow['runs'][number]
type Part = TimelineRow['parts'][number]

/** Runs by how they ended, and failed attempts that were tried again. */
export interface Sums {
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly running: number
  readonly retried: number
}

export interface Mark {
  readonly x: number
  readonly width: number
  /** Where waiting began, left of the bar; null when it shows nothing. */
  readonly waitX: number | null
  readonly sums: Sums
  /** The runs it stands for, where they are known one by one. */
  readonly runs: readonly TimelineBar[]
}

const LEAST_WIDTH = 3
const GAP = 1
const none: Sums = { completed: 0, failed: 0, cancelled: 0, running: 0, retried: 0 }

/** Bars in the order of time; those that would touch are one. */
export function marksOf(
  { runs, parts }: Pick<TimelineRow, 'runs' | 'parts'>,
  { window, width, now, partMs }: Scale,
): Mark[] {
  const scale = width / (window.to - window.from)
  const x = (ms: number) => Math.max(0, Math.min(width, (ms - window.from) * scale))
  const summed = parts.map((part): Mark => {
    const from = Date.parse(part.from)
    const left = x(from)
    const right = Math.max(left + LEAST_WIDTH, x(Math.min(from + partMs, now)) - GAP)
    return { x: left, width: right - left, waitX: null, sums: sumsOfPart(part), runs: [] }
  })
  const sorted = runs
    .map(run => ({ run, start: Date.parse(run.started_at) }))
    .sort((a, b) => a.start - b.start)
  const marks: Mark[] = []
  for (const { run, start } of sorted) {
    const end = run.finished_at === null ? now : Date.parse(run.finished_at)
    if (end < window.from || start > window.to) continue
    const left = x(start)
    const right = Math.max(left + LEAST_WIDTH, x(end))
    const wanted = x(Date.parse(run.scheduled_for))
    const last = marks.at(-1)
    if (last && left <= last.x + last.width + GAP) {
      marks[marks.length - 1] = {
        x: last.x,
        width: Math.max(last.width, right - last.x),
        waitX: last.waitX,
        sums: plus(last.sums, sumsOfRun(run)),
        runs: [...last.runs, run],
      }
      continue
    }
    const waitX = run.attempt === 1 && left - wanted > 2 ? wanted : null
    marks.push({ x: left, width: right - left, waitX, sums: sumsOfRun(run), runs: [run] })
  }
  return [...summed, ...marks]
}

export interface Scale {
  readonly window: Window
  readonly width: number
  readonly now: number
  readonly partMs: number
}

function sumsOfPart({ completed, failed, cancelled, retried }: Part): Sums {
  return { completed, failed, cancelled, running: 0, retried }
}

function sumsOfRun({ status, is_retried: isRetried }: TimelineBar): Sums {
  return isRetried ? { ...none, retried: 1 } : { ...none, [status]: 1 }
}

function plus(a: Sums, b: Sums): Sums {
  return {
    completed: a.completed + b.completed,
    failed: a.failed + b.failed,
    cancelled: a.cancelled + b.cancelled,
    running: a.running + b.running,
    retried: a.retried + b.retried,
  }
}

export interface Share {
  readonly family: 'failed' | 'retry' | 'cancel' | 'running' | 'ok'
  readonly y: number
  readonly height: number
}

const LEAST_SHARE = 3

/** Parts of a bar from the top: what failed is seen however few they are, and never all of it. */
export function sharesOf(sums: Sums, height: number): Share[] {
  const counts = [
    ['failed', sums.failed],
    ['retry', sums.retried],
    ['cancel', sums.cancelled],
    ['running', sums.running],
    ['ok', sums.completed],
  ] as const
  const held = counts.filter(([, count]) => count > 0)
  const total = held.reduce((sum, [, count]) => sum + count, 0)
  const tall = held.map(([, count]) => Math.max(LEAST_SHARE, (count / total) * height))
  // What small shares were given, the largest gives up.
  const over = tall.reduce((sum, one) => sum + one, 0) - height
  const largest = tall.indexOf(Math.max(...tall))
  let y = 0
  return held.map(([family], at) => {
    const exact = tall[at]! - (at === largest ? over : 0)
    const share = { family, y, height: Math.round(exact * 10) / 10 }
    y += share.height
    return share
  })
}

export function countOf({ completed, failed, cancelled, running }: Sums): number {
  return completed + failed + cancelled + running
}
