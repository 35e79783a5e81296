// One storm from beginning to end: jobs, nodes, faults, calm, and the look at what is left.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../../src/jobs/client.ts'
import { systemClock, type Clock } from '../../../src/runtime/clock.ts'
import { Events } from '../../../src/runtime/events.ts'
import { SystemIds } from '../../../src/runtime/ids.ts'
import type { NewJob } from '../../../src/core/job.ts'
import type { Store } from '../../../src/store/port.ts'
import { Random } from '../../simulation/random.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { eventually } from '../../support/servers/wait.ts'
import { check, type Report } from './check.ts'
import { openDirectly, readStore, settledDown, takeOver, type Evidence } from './evidence.ts'
import { Fleet, type Shape } from './fleet.ts'
import { openRig, urlFor, type Rig, type RigKind } from './rig.ts'
import { Storm, type FaultCounts, type FaultKind, type FaultRecord, type Goal } from './storm.ts'
import { readWitness, type Line } from './witness.ts'
import { sharedClock } from './shared-clock.ts'
import { poisonJob, schedules } from './workload.ts'

export interface ChaosOptions {
  readonly kind: RigKind
  readonly seed: number
  readonly nodes: number
  readonly goal: Goal
  readonly everyMs?: Partial<Record<FaultKind, number>>
  readonly jobs?: number
  readonly leaseMs?: number
  readonly skewMaxMs?: number
  /** Called about once a second while it storms. */
  readonly onProgress?: (counts: Readonly<FaultCounts>) => void
}

export interface ChaosResult extends Report {
  readonly kind: RigKind
  readonly seed: number
  readonly seconds: number
  readonly counts: FaultCounts
  readonly lines: readonly Line[]
  /** The folder with everything that was seen, when something was wrong. */
  readonly kept: string | null
}

const CALM_MS = 60_000
/** Beyond the lease. */
const TAKE_OVER_MS = 5_000

/** What a program or an operator asks for. */
function clientOf(store: Store, clock: Clock): Client {
  return new Client({
    store,
    clock,
    ids: new SystemIds(),
    events: new Events(),
    waitingMax: null,
    node: null,
  })
}

export async function seed(
  store: Store,
  jobs: readonly NewJob[],
  clock: Clock = systemClock,
): Promise<string[]> {
  await clientOf(store, clock).create(jobs)
  return jobs.map(({ id }) => id)
}

/** No process is to die after the storm; the one that runs it just now does. */
async function removePoison(store: Store, clock: Clock, withinMs: number): Promise<void> {
  const look = async () => {
    await clientOf(store, clock)
      .cancel(poisonJob.id)
      .catch(() => {})
    const [job] = await store.get([poisonJob.id])
    return job?.state === 'cancelled' || null
  }
  await eventually('the poison job is cancelled', look, withinMs)
}

export async function chaosRun(options: ChaosOptions): Promise<ChaosResult> {
  const witness = await scratch('witness')
  const rig = await openRig(options.kind)
  try {
    return await storming(options, rig, witness.folder)
  } finally {
    await rig.close()
    await witness.remove()
  }
}

/** Kept when something was found: nobody can ask the processes again. */
export async function keep(
  evidence: Evidence,
  report: Report,
  faults: readonly FaultRecord[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-evidence-'))
  const { lines, ledgers, ...dump } = evidence
  const jsonLines = (list: readonly object[]) =>
    list.map(one => `${JSON.stringify(one)}\n`).join('')
  await writeFile(join(folder, 'witness.jsonl'), jsonLines(lines))
  await writeFile(join(folder, 'report.json'), JSON.stringify(report, null, 2))
  await writeFile(join(folder, 'faults.jsonl'), jsonLines(faults))
  await writeFile(join(folder, 'store.json'), JSON.stringify({ ...dump, ledgers: [...ledgers] }))
  return folder
}

async function storming(options: ChaosOptions, rig: Rig, folder: string): Promise<ChaosResult> {
  const beganAt = performance.now()
  const { kind, seed: number, nodes, goal, leaseMs = 1_000, skewMaxMs = 30_000 } = options
  const random = new Random(`chaos ${number}`)
  const clock = sharedClock(rig.clockFile)
  const store = await openDirectly(rig.url, clock)
  const seeded = await seed(store, [...schedules(options.jobs ?? 30), poisonJob], clock)
  const { clockFile } = rig
  const node = { taskEveryMs: 60, tickMs: 100, slots: 20 }
  const shape: Shape = { leaseMs, witness: folder, clockFile, ...node }
  const fleet = new Fleet({
    size: nodes,
    shape,
    urlFor: index => urlFor(rig, index),
    skewMaxMs,
    random: random.fork('fleet'),
  })
  const every = options.everyMs ? { everyMs: options.everyMs } : {}
  const storm = new Storm({
    rig,
    fleet,
    random,
    leaseMs,
    goal,
    create: job => seed(store, [job], clock),
    ...every,
  })
  const progress = setInterval(() => options.onProgress?.(storm.counts), 1_000)
  const trouble: string[] = []
  try {
    await fleet.start()
    await storm.run()
    await removePoison(store, clock, CALM_MS)
    const quietAt = clock.now()
    trouble.push(...(await fleet.quiet(CALM_MS)))
    clearInterval(progress)
    const left = await settledDown(store, quietAt, CALM_MS)
    trouble.push(...left.map(text => `${text}, ${CALM_MS} ms after the last fault`))
    trouble.push(...(await fleet.stop()), ...fleet.deserters)
    await takeOver(store, leaseMs + TAKE_OVER_MS, clock)
    const lines = readWitness(folder)
    const { dead } = fleet
    const { steps } = storm
    const evidence = { ...(await readStore(store, clock)), lines, seeded, quietAt, dead, steps }
    const report = check(evidence)
    report.violations.push(...trouble, ...(await rig.inspect()))
    const isClean = [report.lost, report.duplicates, report.violations].flat().length === 0
    const kept = isClean ? null : await keep(evidence, report, storm.log)
    const seconds = (performance.now() - beganAt) / 1_000
    return { kind, seed: number, seconds, counts: storm.counts, lines, kept, ...report }
  } finally {
    clearInterval(progress)
    await fleet.end()
    await store.close()
  }
}
