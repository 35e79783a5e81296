// Runs worlds one after another and sums up what they showed.

import { checkAll } from './checkers/index.ts'
import type { Violation } from './history.ts'
import { labelsOf } from './labels.ts'
import { makePlan } from './plan.ts'
import { violationText } from './recorder.ts'
import { runPlan, runSeed, type Mutant } from './world.ts'

export interface Summary {
  readonly ran: number
  readonly events: number
  /** Simulated time. */
  readonly worldMs: number
  readonly attempts: number
  readonly labels: Readonly<Record<string, number>>
  readonly failed: readonly { seed: number; report: string }[]
}

export async function runSeeds(seeds: readonly number[]): Promise<Summary> {
  const labels: Record<string, number> = {}
  const failed: { seed: number; report: string }[] = []
  let [events, worldMs, attempts] = [0, 0, 0]
  for (const seed of seeds) {
    const run = await runSeed(seed)
    const { history } = run
    events += run.events
    worldMs += history.endAt - history.startAt
    attempts += history.witness.length
    for (const label of labelsOf(history, run.labels)) labels[label] = (labels[label] ?? 0) + 1
    const violations = checkAll(history)
    if (violations.length > 0) failed.push({ seed, report: await reportOf(seed, violations) })
  }
  return { ran: seeds.length, events, worldMs, attempts, labels, failed }
}

const SHOWN_VIOLATIONS = 6
const SHOWN_LINES = 25

/** Same seed, same world: it is run again with its lines kept, and those around the first are shown. */
export async function reportOf(
  seed: number,
  violations: readonly Violation[],
  mutant?: Mutant,
): Promise<string> {
  const plan = makePlan(seed)
  const { lines } = await runPlan(plan, { keepsLines: true, ...(mutant ? { mutant } : {}) })
  const [first] = violations
  const about = lines.filter(
    line => line.includes(` ${first!.jobId} `) || line.includes(` ${first!.jobId}.`),
  )
  const end = about.findIndex(line => Number(line.slice(0, line.indexOf(' '))) > first!.at)
  const upTo = end < 0 ? about.length : end + 1
  return [
    plan.summary,
    ...violations.slice(0, SHOWN_VIOLATIONS).map(one => violationText(one, plan.startAt)),
    violations.length > SHOWN_VIOLATIONS ? `… ${violations.length} in all` : '',
    ...about.slice(Math.max(0, upTo - SHOWN_LINES), upTo).map(line => line.trimEnd()),
    `again: CARILLON_SEED=${seed} npx vitest run --project simulation`,
  ].join('\n')
}

export function sumUp(parts: readonly Summary[]): Summary {
  const labels: Record<string, number> = {}
  for (const part of parts) {
    for (const [label, count] of Object.entries(part.labels)) {
      labels[label] = (labels[label] ?? 0) + count
    }
  }
  const sum = (pick: (part: Summary) => number) =>
    parts.reduce((total, part) => total + pick(part), 0)
  return {
    ran: sum(part => part.ran),
    events: sum(part => part.events),
    worldMs: sum(part => part.worldMs),
    attempts: sum(part => part.attempts),
    labels,
    failed: parts.flatMap(part => part.failed),
  }
}
