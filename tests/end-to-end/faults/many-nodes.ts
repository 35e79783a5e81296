// Many nodes on one store, a fixed number of occurrences, and nodes that come and go meanwhile:
// every occurrence is run, once, and the work of a node that went is soon taken over.

import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { Store } from '../../../src/store/port.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { eventually } from '../../support/servers/wait.ts'
import { Random } from '../../simulation/random.ts'
import { keep, seed } from './chaos-run.ts'
import { check, type Report } from './check.ts'
import { openDirectly, readStore, takeOver, type Evidence } from './evidence.ts'
import { Fleet } from './fleet.ts'
import { handovers, longestReapMs, unexplainedRepeats } from './handover.ts'
import type { Departure, Handovers } from './handover.ts'
import { openRig, type RigKind } from './rig.ts'
import { readWitness } from './witness.ts'
import { countedSchedules, longSchedules } from './workload.ts'

export interface ManyNodesOptions {
  readonly kind: RigKind
  readonly nodes: number
  readonly jobs: number
  readonly runsPerJob: number
  readonly everyMs: number
  readonly kills: number
  readonly stops: number
  readonly leaseMs: number
  readonly tickMs: number
  readonly seed: number
  readonly onProgress?: (text: string) => void
}

export interface ManyNodesResult extends Report {
  readonly executed: number
  readonly seconds: number
  readonly departures: readonly Departure[]
  /** Until others may have what a killed node held. */
  readonly reapMs: number
  readonly afterKill: Handovers
  readonly afterStop: Handovers
  readonly kept: string | null
}

const SETTLE_MS = 600_000
/** Storing all schedules takes less. */
const LEAD_MS = 5_000
const KILL_SLACK_MS = 5_000
/** A busy machine needs a moment to get round to it. */
const STOP_SLACK_MS = 1_000

export async function manyNodes(options: ManyNodesOptions): Promise<ManyNodesResult> {
  const witness = await scratch('witness')
  const rig = await openRig(options.kind)
  try {
    const store = await openDirectly(rig.url, systemClock)
    try {
      return await crowded(options, { store, url: rig.url, folder: witness.folder })
    } finally {
      await store.close()
    }
  } finally {
    await rig.close()
    await witness.remove()
  }
}

interface Place {
  readonly store: Store
  readonly url: string
  readonly folder: string
}

async function crowded(options: ManyNodesOptions, place: Place): Promise<ManyNodesResult> {
  const { store, url, folder } = place
  const { nodes, jobs, runsPerJob, everyMs, leaseMs, tickMs } = options
  const random = new Random(`many nodes ${options.seed}`)
  const fleet = new Fleet({
    size: nodes,
    shape: { leaseMs, tickMs, clockFile: null, witness: folder, taskEveryMs: 0, slots: 20 },
    urlFor: () => url,
    skewMaxMs: 0,
    random: random.fork('fleet'),
  })
  try {
    await fleet.start()
    const beganAt = performance.now()
    const long = await seed(store, longSchedules(nodes * 4))
    const counted = countedSchedules(Date.now() + LEAD_MS, jobs, runsPerJob, everyMs)
    const seeded = [...long, ...(await seed(store, counted))]
    const departures = await comeAndGo(options, fleet, random)
    await allDone(store, options)
    const seconds = (performance.now() - beganAt) / 1_000
    const quietAt = Date.now() - leaseMs - KILL_SLACK_MS
    const trouble = [...(await fleet.stop()), ...fleet.deserters]
    await takeOver(store, leaseMs + KILL_SLACK_MS, systemClock)
    const lines = readWitness(folder)
    const seen = { lines, seeded, quietAt, dead: fleet.dead, steps: [] }
    const evidence = { ...(await readStore(store, systemClock)), ...seen }
    return await judge(options, evidence, { departures, seconds, trouble })
  } finally {
    await fleet.end()
  }
}

/** Kills and orderly stops in turn, spread over the time the occurrences take. */
async function comeAndGo(
  options: ManyNodesOptions,
  fleet: Fleet,
  random: Random,
): Promise<Departure[]> {
  const { kills, stops, runsPerJob, everyMs } = options
  const departures: Departure[] = []
  const hows = [
    ...Array.from({ length: kills }, () => 'killed' as const),
    ...Array.from({ length: stops }, () => 'stopped' as const),
  ]
  for (const [i, how] of hows.entries()) {
    await pause((runsPerJob * everyMs) / (hows.length + 1))
    const member = random.pick(fleet.members)
    departures.push({ node: member.id, how, at: Date.now() })
    if (how === 'killed') await fleet.kill(member)
    else await fleet.relieve(member, 0)
    options.onProgress?.(`${i + 1} of ${hows.length} nodes replaced: ${member.id} was ${how}`)
  }
  return departures
}

async function allDone(store: Store, options: ManyNodesOptions): Promise<void> {
  let said = 0
  const look = async () => {
    const counts = await store.counts()
    const done = counts
      .filter(({ handler, state }) => handler === 'quick' && state === 'completed')
      .reduce((sum, { count }) => sum + count, 0)
    if (performance.now() - said > 10_000) {
      said = performance.now()
      options.onProgress?.(`${done} of ${options.jobs} schedules are through`)
    }
    return done >= options.jobs ? true : null
  }
  await eventually('every occurrence was run', look, SETTLE_MS)
}

async function judge(
  options: ManyNodesOptions,
  evidence: Evidence,
  run: { departures: Departure[]; seconds: number; trouble: readonly string[] },
): Promise<ManyNodesResult> {
  const { departures, seconds } = run
  const report = check(evidence)
  const executed = evidence.attempts.filter(
    ({ jobId, outcome }) => jobId.startsWith('counted-') && outcome === 'succeeded',
  ).length
  const afterKill = handovers(evidence, departures, 'killed')
  const afterStop = handovers(evidence, departures, 'stopped')
  report.violations.push(
    ...run.trouble,
    ...unexplainedRepeats(evidence),
    ...miscounted(options, evidence),
  )
  const wanted = options.jobs * options.runsPerJob
  if (executed !== wanted) report.violations.push(`${executed} occurrences were run, not ${wanted}`)
  const reapMs = longestReapMs(evidence, departures)
  if (Math.max(reapMs, afterKill.longestMs) > options.leaseMs + KILL_SLACK_MS) {
    report.violations.push(`hand-over took ${reapMs} or ${afterKill.longestMs} ms after a kill`)
  }
  if (afterStop.longestMs > options.tickMs + STOP_SLACK_MS) {
    report.violations.push(`hand-over took ${afterStop.longestMs} ms after a stop`)
  }
  const isClean = [report.lost, report.duplicates, report.violations].flat().length === 0
  const kept = isClean ? null : await keep(evidence, report, [])
  return { ...report, executed, seconds, departures, reapMs, afterKill, afterStop, kept }
}

/** Every one of its occurrences was run, none was left out. */
function miscounted({ runsPerJob }: ManyNodesOptions, { ledgers }: Evidence): string[] {
  const found: string[] = []
  for (const [id, entries] of ledgers) {
    if (!id.startsWith('counted-')) continue
    const runs = entries.filter(({ decision }) => decision === 'run').length
    if (runs === runsPerJob && entries.length === runs) continue
    found.push(`${id} has ${runs} runs and ${entries.length - runs} skips, not ${runsPerJob} runs`)
  }
  return found
}

export function manyNodesLines(result: ManyNodesResult): string[] {
  const { executed, seconds, departures, reapMs, afterKill, afterStop, kept } = result
  const { lost, duplicates, violations } = result
  const count = (how: Departure['how']) => departures.filter(one => one.how === how).length
  return [
    ...[...lost, ...duplicates, ...violations].slice(0, 20).map(text => `  ${text}`),
    ...(kept === null ? [] : [`everything seen is in ${kept}`]),
    `${executed} occurrences run in ${seconds.toFixed(1)} s, ${count('killed')} nodes killed, ` +
      `${count('stopped')} stopped`,
    `hand-over after a kill: others may have it after ${reapMs} ms at most, begun again after ` +
      `${afterKill.longestMs} ms at most (${afterKill.count} runs); ` +
      `after a stop: ${afterStop.longestMs} ms at most (${afterStop.count} runs)`,
    `${duplicates.length} duplicates, ${lost.length} losses, ${violations.length} violations`,
  ]
}
