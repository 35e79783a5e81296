// Jobs of every kind, with short intervals so that a few minutes hold many of their moments.

import { completeSpec, type Backoff, type JobSpec, type Missed } from '../../src/core/spec.ts'
import type { Overlap, Retry } from '../../src/core/spec.ts'
import type { NewJob } from '../../src/core/job.ts'
import { checkSpec } from '../../src/core/spec/spec-check.ts'
import type { Millis } from '../../src/core/time.ts'
import { DAY } from '../../src/core/time.ts'
import type { Trigger } from '../../src/core/schedule/trigger.ts'
import { dailyCrons, type Epoch } from './epochs.ts'
import type { Random } from './random.ts'

export const triggerKinds = ['cron', 'schedule', 'start', 'finish', 'once', 'manual'] as const
export type TriggerKind = (typeof triggerKinds)[number]

/** How the handler of a job behaves; see behaviours.ts. */
export const behaviours = [
  'ok',
  'quick',
  'flaky',
  'verdicts',
  'slow',
  'hang',
  'deaf',
  'beat',
  'poison',
] as const
export type Behaviour = (typeof behaviours)[number]

export interface Palette {
  readonly triggers: readonly TriggerKind[]
  readonly behaviours: readonly Behaviour[]
  readonly overlaps: readonly Overlap['policy'][]
  readonly misseds: readonly Missed['policy'][]
}

export interface Setting {
  readonly random: Random
  readonly epoch: Epoch
  readonly palette: Palette
  readonly leaseMs: Millis
}

export function makeJobs(setting: Setting, count: number): NewJob[] {
  return Array.from({ length: count }, (_, i) => ({ id: `job-${i}`, spec: makeSpec(setting, i) }))
}

const TRIES_MAX = 30

/** Draws until the parts do not contradict each other; a palette may leave no such pair. */
function makeSpec(setting: Setting, index: number): JobSpec {
  const { palette } = setting
  const plain: Palette = { ...palette, overlaps: ['skip'], misseds: ['once'] }
  for (let tries = 0; ; tries++) {
    const spec = drawSpec(tries < TRIES_MAX ? setting : { ...setting, palette: plain }, index)
    if (checkSpec(spec).length === 0) return spec
  }
}

function drawSpec(setting: Setting, index: number): JobSpec {
  const { random, palette, leaseMs, epoch } = setting
  const behaviour = random.pick(palette.behaviours)
  // Single shots are soon over: most jobs come again.
  const drawn = random.pick(palette.triggers)
  const isSingle = drawn === 'once' || drawn === 'manual'
  const kind = isSingle && random.chance(0.6) ? random.pick(['cron', 'schedule'] as const) : drawn
  const trigger = drawTrigger(setting, kind)
  const isGrid = kind === 'cron' || kind === 'schedule'
  const first = random.chance(0.25) ? random.pick(['now', 'ifDue'] as const) : 'next'
  const startsLater = isGrid && first === 'next' && random.chance(0.15)
  return completeSpec({
    name: `${kind} ${behaviour}`,
    handler: random.chance(0.8) ? 'work' : 'other',
    queue: random.chance(0.85) ? 'default' : 'side',
    lane: random.pick(['a', 'b', 'c']),
    payload: { behaviour },
    trigger,
    first,
    // A start that lies ahead and a first run that looks back contradict each other.
    startAt: startsLater ? epoch.startAt + random.int(1, 60) * 1_000 : null,
    endAt: isGrid && random.chance(0.1) ? epoch.startAt + random.int(60, 240) * 1_000 : null,
    runLimit: kind !== 'once' && kind !== 'manual' && random.chance(0.2) ? random.int(2, 6) : null,
    jitterMs: isGrid && random.chance(0.1) ? random.int(1, 2_000) : 0,
    missed: drawMissed(random, palette),
    overlap: drawOverlap(random, palette),
    retry: drawRetry(random, kind),
    graceMs: random.pick([2_000, 8_000, 60_000]),
    lateLimitMs: random.chance(0.08) ? random.int(3_000, 20_000) : null,
    timeoutMs: drawTimeout(random, behaviour, leaseMs),
    retention: random.chance(0.2)
      ? { attempts: random.int(1, 4), ageMs: random.int(5, 30) * 1_000 }
      : { attempts: 1_000, ageMs: 30 * DAY },
    metadata: { index },
  })
}

export function drawTrigger({ random, epoch }: Setting, kind: TriggerKind): Trigger {
  const everyMs = random.int(3, 20) * 1_000 + random.pick([0, 0, 0, 137])
  switch (kind) {
    case 'cron': {
      const choice = random.pick(
        epoch.crons.length > 0 && random.chance(0.6) ? epoch.crons : dailyCrons,
      )
      return { kind: 'cron', ...choice, zone: epoch.zone, dst: null }
    }
    case 'schedule': {
      const anchor = random.chance(0.3) ? epoch.startAt - random.int(0, 100_000) : null
      return { kind: 'interval', everyMs, from: 'schedule', anchor }
    }
    case 'start':
    case 'finish':
      return { kind: 'interval', everyMs, from: kind, anchor: null }
    case 'once':
      return { kind: 'once', at: epoch.startAt + random.int(-5, 120) * 1_000 }
    case 'manual':
      return { kind: 'manual' }
  }
}

function drawMissed(random: Random, palette: Palette): Missed {
  const policy = random.pick(palette.misseds)
  if (policy !== 'all') return { policy }
  return { policy, max: random.int(1, 6), maxAgeMs: random.pick([20_000, 120_000, DAY]) }
}

function drawOverlap(random: Random, palette: Palette): Overlap {
  const policy = random.pick(palette.overlaps)
  return policy === 'queue' ? { policy, limit: random.int(1, 3) } : { policy }
}

function drawRetry(random: Random, kind: TriggerKind): Retry {
  const isSingle = kind === 'once' || kind === 'manual'
  const resets = random.chance(0.25)
  return {
    limit: random.pick([0, 1, 2, 3, 6, null]),
    backoff: drawBackoff(random),
    resetAfterMs: resets ? random.int(5, 40) * 1_000 : null,
    exhausted: isSingle
      ? 'stop'
      : random.pick(['stop', 'next', 'next', 'next', 'wait', 'wait'] as const),
    yields: random.chance(0.2),
  }
}

function drawBackoff(random: Random): Backoff {
  switch (random.int(0, 3)) {
    case 0:
      return { kind: 'fixed', delayMs: random.int(0, 4_000) }
    case 1:
      return { kind: 'relative', maxFactor: random.int(1, 3) }
    default: {
      const baseMs = random.int(200, 3_000)
      return { kind: 'exponential', baseMs, maxMs: baseMs * 6, jitter: random.pick([0, 0.5, 1]) }
    }
  }
}

function drawTimeout(random: Random, behaviour: Behaviour, leaseMs: Millis): Millis | null {
  if (behaviour === 'hang') return random.int(500, leaseMs)
  return random.chance(0.3) ? random.int(1_000, leaseMs * 2) : null
}

/** What an edit changes: never so much that the job is of another kind afterwards. */
export function drawPatch(setting: Setting, spec: JobSpec): Partial<JobSpec> {
  const { random } = setting
  const { trigger } = spec
  switch (random.int(0, 4)) {
    case 0:
      return { timeoutMs: random.int(2_000, 20_000) }
    case 1:
      return { retry: { ...spec.retry, limit: random.pick([0, 1, 2, 5]) } }
    case 2:
      return { payload: { behaviour: random.pick(setting.palette.behaviours) } }
    default:
      if (trigger.kind === 'interval') {
        return { trigger: { ...trigger, everyMs: random.int(3, 25) * 1_000 } }
      }
      return trigger.kind === 'cron' ? { trigger: drawTrigger(setting, 'cron') } : {}
  }
}
