// The rows of a timeline: by job, tenant or node, with marks that lie too close drawn as one.

import type { Timeline, TimelineRow } from '../../data/more-reads.ts'
import type { Window } from './window.ts'

type Bar = TimelineRow['runs'][number]

export type Grouping = 'job' | 'tenant' | 'node'

export interface PastRun {
  readonly run: Bar
  readonly jobName: string
}

export interface ComingRun {
  readonly at: number
  readonly isEstimate: boolean
  readonly jobName: string
  readonly expectedMs: number | null
}

export interface Row {
  readonly key: string
  readonly label: string
  /** Null when the row is not that of one job. */
  readonly jobId: string | null
  readonly past: readonly PastRun[]
  readonly coming: readonly ComingRun[]
}

export function rowsBy(grouping: Grouping, { rows }: Timeline): Row[] {
  const found = new Map<string, { label: string; jobId: string | null } & Marks>()
  const rowFor = (key: string, label: string, jobId: string | null) => {
    const held = found.get(key) ?? { label, jobId, past: [], coming: [] }
    found.set(key, held)
    return held
  }
  for (const row of rows) {
    const jobId = grouping === 'job' ? row.job_id : null
    const [key, label] = grouping === 'job' ? [row.job_id, row.job_name] : [row.tenant, row.tenant]
    for (const run of row.runs) {
      const place =
        grouping === 'node' ? rowFor(run.owner, run.owner, null) : rowFor(key, label, jobId)
      place.past.push({ run, jobName: row.job_name })
    }
    // Which node will serve a run is not known before.
    if (grouping === 'node') continue
    for (const { at, is_estimate } of row.upcoming) {
      rowFor(key, label, jobId).coming.push({
        at: Date.parse(at),
        isEstimate: is_estimate,
        jobName: row.job_name,
        expectedMs: row.expected_ms,
      })
    }
  }
  return [...found]
    .map(([key, row]) => ({ key, ...row }))
    .sort((a, b) => a.label.localeCompare(b.label))
}

interface Marks {
  readonly past: PastRun[]
  readonly coming: ComingRun[]
}

export interface Mark {
  readonly x: number
  readonly width: number
  /** Where waiting began, left of the bar; null when it shows nothing. */
  readonly waitX: number | null
  /** The worst of those drawn as one. */
  readonly state: string
  readonly runs: readonly PastRun[]
}

const LEAST_WIDTH = 3
const GAP = 1
const severity = ['completed', 'cancelled', 'running', 'failed']

/** Bars in the order of time; those that would touch are one. */
export function marksOf(past: readonly PastRun[], window: Window, width: number, now: number) {
  const scale = width / (window.to - window.from)
  const x = (ms: number) => Math.max(0, Math.min(width, (ms - window.from) * scale))
  const sorted = past
    .map(one => ({ one, start: Date.parse(one.run.started_at) }))
    .sort((a, b) => a.start - b.start)
  const marks: Mark[] = []
  for (const { one, start } of sorted) {
    const end = one.run.finished_at === null ? now : Date.parse(one.run.finished_at)
    if (end < window.from || start > window.to) continue
    const left = x(start)
    const right = Math.max(left + LEAST_WIDTH, x(end))
    const wanted = x(Date.parse(one.run.scheduled_for))
    const last = marks.at(-1)
    if (last && left <= last.x + last.width + GAP) {
      marks[marks.length - 1] = {
        x: last.x,
        width: Math.max(last.width, right - last.x),
        waitX: last.waitX,
        state: worse(last.state, one.run.status),
        runs: [...last.runs, one],
      }
      continue
    }
    const waitX = one.run.attempt === 1 && left - wanted > 2 ? wanted : null
    marks.push({ x: left, width: right - left, waitX, state: one.run.status, runs: [one] })
  }
  return marks
}

function worse(a: string, b: string): string {
  return severity.indexOf(b) > severity.indexOf(a) ? b : a
}
