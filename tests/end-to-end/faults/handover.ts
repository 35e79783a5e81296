// How long work waits for another node after its own was killed or stopped.

import type { Attempt, OutcomeKind } from '../../../src/core/attempt.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { Evidence } from './evidence.ts'
import type { Start } from './witness.ts'

export interface Departure {
  readonly node: string
  readonly how: 'killed' | 'stopped'
  readonly at: Instant
}

export interface Handovers {
  /** Runs that another node began again. */
  readonly count: number
  readonly longestMs: number
}

/** Runs of these jobs never wait behind others: what they wait for is the hand-over alone. */
const isUnhindered = ({ jobId }: Attempt) => jobId.startsWith('long-')

const left: Readonly<Record<Departure['how'], readonly OutcomeKind[]>> = {
  killed: ['abandoned'],
  stopped: ['interrupted'],
}

const key = ({ job, run }: { job: string; run: number }) => `${job}.${run}`

/** From the kill, or from the moment a stopping node gave its run back, to the next start of it. */
export function handovers(
  { attempts, lines }: Pick<Evidence, 'attempts' | 'lines'>,
  departures: readonly Departure[],
  how: Departure['how'],
): Handovers {
  const gone = new Map(departures.filter(one => one.how === how).map(one => [one.node, one.at]))
  const starts = startsByRun(lines)
  const since = ({ owner, finishedAt }: Attempt) =>
    how === 'killed' ? gone.get(owner)! : Math.max(finishedAt, gone.get(owner)!)
  const waits: number[] = []
  for (const attempt of attempts) {
    if (!gone.has(attempt.owner) || !left[how].includes(attempt.outcome)) continue
    if (!isUnhindered(attempt)) continue
    const from = since(attempt)
    const runs = starts.get(key({ job: attempt.jobId, run: attempt.run })) ?? []
    const next = runs.find(start => start.fence > attempt.fence)
    if (next) waits.push(Math.max(0, next.at - from))
  }
  return { count: waits.length, longestMs: Math.max(0, ...waits) }
}

/** From the kill to when others may have the run, for all there were. */
export function longestReapMs(
  { attempts }: Pick<Evidence, 'attempts'>,
  departures: readonly Departure[],
): number {
  const gone = new Map(departures.map(({ node, at }) => [node, at]))
  const waits = attempts
    .filter(({ owner, outcome }) => outcome === 'abandoned' && gone.has(owner))
    .map(({ owner, finishedAt }) => finishedAt - gone.get(owner)!)
  return Math.max(0, ...waits)
}

function startsByRun(lines: Evidence['lines']): Map<string, Start[]> {
  const starts = new Map<string, Start[]>()
  for (const line of lines) {
    if (line.kind !== 'start') continue
    const held = starts.get(key(line))
    if (held) held.push(line)
    else starts.set(key(line), [line])
  }
  for (const list of starts.values()) list.sort((a, b) => a.fence - b.fence)
  return starts
}

/** Runs called again although the node of the call before neither went nor gave them back. */
export function unexplainedRepeats({ attempts, lines }: Evidence): string[] {
  const outcomes = new Map(attempts.map(({ id, outcome }) => [id, outcome]))
  const found: string[] = []
  for (const starts of startsByRun(lines).values()) {
    for (const { id, job, run, node } of starts.slice(0, -1)) {
      const outcome = outcomes.get(id)
      if (outcome === 'abandoned' || outcome === 'interrupted' || outcome === 'failed') continue
      found.push(`${job}.${run} ran again although ${node} had it ${outcome}`)
    }
  }
  return found
}
