// What happens in a world of a seed: its nodes, its jobs, what goes wrong and what people do.
// Each seed draws a subset of faults and kinds, so that rare pairs meet often in some worlds.

import type { NewJob } from '../../src/core/job.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant, Millis } from '../../src/core/time.ts'
import { epochs, type Epoch } from './epochs.ts'
import { Random } from './random.ts'
import {
  behaviours,
  drawPatch,
  makeJobs,
  triggerKinds,
  type Palette,
  type Setting,
} from './specs.ts'
import type { Front, Latency } from './weather.ts'

export interface NodePlan {
  readonly id: string
  readonly offsetMs: Millis
}

/** Something done to a node; errors and stalls on its way to the store are fronts. */
export interface Blow {
  readonly kind: 'freeze' | 'kill' | 'crash' | 'stop' | 'outage'
  readonly node: string
  readonly at: Instant
  readonly forMs: Millis
  readonly drainMs: Millis
}

export interface Deed {
  readonly at: Instant
  readonly verb: Verb
  readonly jobId: string
  readonly patch: Partial<JobSpec>
  readonly forMs: Millis
  /** Waits for the job to run, to meet its holder at work. */
  readonly aims: boolean
}

const verbs = [
  'edit',
  'pause',
  'pause until',
  'resume',
  'cancel',
  'cancel run',
  'run',
  'retry',
  'retry run',
  'backfill',
  'remove',
] as const
export type Verb = (typeof verbs)[number] | 'create'

export interface Plan {
  readonly seed: number
  readonly epoch: Epoch
  readonly startAt: Instant
  readonly quietAt: Instant
  readonly endAt: Instant
  readonly nodes: readonly NodePlan[]
  readonly slots: number
  readonly leaseMs: Millis
  readonly latency: Latency
  readonly jobs: readonly NewJob[]
  readonly blows: readonly Blow[]
  readonly fronts: readonly Front[]
  readonly deeds: readonly Deed[]
  /** Everything that was chosen, for people to read. */
  readonly summary: string
}

export const REAP_MS = 2_500
export const LOOK_MS = 700
export const CHECK_MS = 3_000
export const ABORT_GRACE_MS = 600
const QUIET_MS = 50_000

const blowKinds = ['freeze', 'kill', 'crash', 'stop', 'outage', 'errors', 'stall'] as const
type BlowKind = (typeof blowKinds)[number]

export function makePlan(seed: number): Plan {
  const random = new Random(seed)
  const epoch = random.fork('epoch').pick(epochs)
  const shape = random.fork('shape')
  const { startAt } = epoch
  const quietAt = startAt + shape.int(100, 240) * 1_000
  const leaseMs = shape.pick([3_000, 5_000, 8_000])
  const palette = drawPalette(random.fork('palette'))
  const setting: Setting = { random: random.fork('jobs'), epoch, palette, leaseMs }
  const hasOffsets = shape.chance(0.6)
  const nodes = Array.from({ length: shape.int(2, 4) }, (_, i) => ({
    id: `node-${i}`,
    offsetMs: hasOffsets ? shape.int(-30_000, 30_000) : 0,
  }))
  const latency = shape.pick([
    { minMs: 0, maxMs: 2 },
    { minMs: 1, maxMs: 20 },
    { minMs: 5, maxMs: 60 },
  ])
  const kinds = shape.chance(0.1) ? [] : random.fork('kinds').some(blowKinds, 0.4)
  const jobs = makeJobs(setting, shape.int(3, 8))
  const slots = shape.chance(0.15) ? 2 : 30
  const span = { startAt, quietAt, leaseMs }
  const faults = drawFaults(random.fork('faults'), kinds, nodes, span)
  const people = shape.chance(0.15) ? [] : random.fork('people').some(verbs, 0.4)
  const deeds = drawDeeds({ ...setting, random: random.fork('deeds') }, people, jobs, span)
  const summary = [
    `seed ${seed}: ${nodes.length} nodes, ${slots} slots, lease ${leaseMs}, ${epoch.zone}`,
    `latency ${latency.minMs}-${latency.maxMs}, offsets ${nodes.map(node => node.offsetMs).join(' ')}`,
    `faults [${kinds.join(' ')}] people [${people.join(' ')}]`,
    ...jobs.map(({ id, spec }) => `${id} ${JSON.stringify(shortSpec(spec))}`),
  ].join('\n')
  return {
    seed,
    epoch,
    startAt,
    quietAt,
    endAt: quietAt + QUIET_MS,
    nodes,
    slots,
    leaseMs,
    latency,
    jobs,
    ...faults,
    deeds,
    summary,
  }
}

function drawPalette(random: Random): Palette {
  return {
    triggers: random.some(triggerKinds, 0.5),
    behaviours: random.some(behaviours, 0.35),
    overlaps: random.some(['skip', 'queue', 'replace', 'allow'] as const, 0.5),
    misseds: random.some(['skip', 'once', 'all'] as const, 0.6),
  }
}

interface SpanOfTrouble {
  readonly startAt: Instant
  readonly quietAt: Instant
  readonly leaseMs: Millis
}

function drawFaults(
  random: Random,
  kinds: readonly BlowKind[],
  nodes: readonly NodePlan[],
  { startAt, quietAt, leaseMs }: SpanOfTrouble,
): { blows: Blow[]; fronts: Front[] } {
  const blows: Blow[] = []
  const fronts: Front[] = []
  if (kinds.length === 0) return { blows, fronts }
  const pauseMs = random.int(8, 40) * 1_000
  for (let at = startAt + 2_000; at < quietAt - 5_000; at += random.int(1_000, pauseMs * 2)) {
    const kind = random.pick(kinds)
    const { id: node } = random.pick(nodes)
    if (kind === 'errors' || kind === 'stall') {
      const to = Math.min(quietAt, at + random.int(1, 15) * 1_000)
      const before = random.pick([0, 0.1, 0.4])
      const after = random.pick([0.05, 0.2, 0.4])
      const whom = random.chance(0.3) ? null : node
      fronts.push({ kind, node: whom, from: at, to, before, after, stallMs: leaseMs * 2 })
    } else if (kind === 'outage') {
      const forMs = random.pick([20_000, 60_000, 90_000])
      for (const { id } of nodes) blows.push({ kind, node: id, at, forMs, drainMs: 0 })
      at += forMs
    } else {
      const forMs = random.int(200, leaseMs * 3)
      blows.push({ kind, node, at, forMs, drainMs: random.pick([0, 500, 5_000]) })
    }
  }
  return { blows, fronts }
}

function drawDeeds(
  setting: Setting,
  people: readonly Verb[],
  jobs: readonly NewJob[],
  { startAt, quietAt }: SpanOfTrouble,
): Deed[] {
  const { random } = setting
  const deeds: Deed[] = jobs.map(({ id, spec }) => ({
    at: startAt + random.int(0, random.chance(0.7) ? 500 : 30_000),
    verb: 'create',
    jobId: id,
    patch: spec,
    forMs: 0,
    aims: false,
  }))
  if (people.length === 0) return deeds
  const pauseMs = random.int(3, 30) * 1_000
  for (let at = startAt + 3_000; at < quietAt - 2_000; at += random.int(500, pauseMs * 2)) {
    const { id, spec } = random.pick(jobs)
    // Ends are rare, so that there is something left to watch.
    const drawn = random.pick(people)
    const isEnd = drawn === 'cancel' || drawn === 'remove'
    const verb = isEnd && random.chance(0.85) ? 'run' : drawn
    const patch = verb === 'edit' ? drawPatch(setting, spec) : {}
    const forMs = random.int(2, 40) * 1_000
    deeds.push({ at, verb, jobId: id, patch, forMs, aims: random.chance(0.4) })
  }
  return deeds
}

function shortSpec(spec: JobSpec): Partial<JobSpec> {
  const { trigger, first, startAt, endAt, runLimit, jitterMs, missed, overlap, retry } = spec
  const { graceMs, lateLimitMs, timeoutMs, payload, retention } = spec
  return {
    trigger,
    first,
    startAt,
    endAt,
    runLimit,
    jitterMs,
    missed,
    overlap,
    retry,
    graceMs,
    lateLimitMs,
    timeoutMs,
    payload,
    retention,
  }
}
