// Random specs that core accepts, small enough that histories meet.

import { assertSpec } from '../../src/core/spec/spec-check.ts'
import type { JobSpec, Overlap, Priority, Retry } from '../../src/core/spec.ts'
import { DAY, HOUR, MINUTE, SECOND, type Instant } from '../../src/core/time.ts'
import type { Trigger } from '../../src/core/schedule/trigger.ts'
import { spec } from '../support/builders.ts'
import type { Random } from '../support/random.ts'

export const queues = ['default', 'q2'] as const
export const tenants = ['t1', 't2', '😀', '\uE000'] as const
export const handlers = ['work', 'mail'] as const
const lanes = ['a', 'a/1', 'a/ü', 'a-b', 'b', 'ünï/x', '😀', '\uE000'] as const
const priorities: readonly Priority[] = [1, 2, 3, 4, 5, 6]

export function randomSpec(random: Random, now: Instant): JobSpec {
  for (;;) {
    const drawn = draw(random, now)
    try {
      assertSpec(drawn)
      return drawn
    } catch {
      // A contradictory pair: draw again.
    }
  }
}

function draw(random: Random, now: Instant): JobSpec {
  const some = <T>(share: number, value: T): T | null => (random.chance(share) ? value : null)
  return spec({
    name: `job ${random.int(1, 99)}`,
    trigger: randomTrigger(random, now),
    queue: random.pick(queues),
    handler: random.pick(handlers),
    lane: random.pick(lanes),
    tenant: random.pick(tenants),
    priority: random.pick(priorities),
    payload: random.pick([null, 1, 'ö', { deep: [1, { x: null }] }]),
    first: random.pick(['next', 'next', 'now', 'ifDue']),
    startAt: some(0.1, now + random.int(1, 10) * MINUTE),
    endAt: some(0.15, now + random.int(11, 60) * MINUTE),
    runLimit: some(0.15, random.int(1, 4)),
    jitterMs: random.pick([0, 0, 0, 5 * SECOND]),
    missed: random.pick([
      { policy: 'skip' },
      { policy: 'once' },
      { policy: 'all', max: random.int(1, 5), maxAgeMs: HOUR },
    ]),
    overlap: randomOverlap(random),
    retry: randomRetry(random),
    graceMs: random.pick([SECOND, MINUTE]),
    lateLimitMs: some(0.15, 5 * MINUTE),
    retention: { attempts: 1, ageMs: 2 * MINUTE },
    tags: random.pick([[], ['x', 'y']]),
  })
}

export function randomTrigger(random: Random, now: Instant): Trigger {
  const everyMs = random.pick([10 * SECOND, 30 * SECOND, MINUTE, MINUTE, 7 * MINUTE, DAY])
  const anchor = random.chance(0.5) ? null : random.int(0, MINUTE)
  return random.weighed<Trigger>([
    [{ kind: 'once', at: now + random.int(1, 3 * MINUTE) }, 3],
    [{ kind: 'interval', everyMs, from: 'schedule', anchor }, 4],
    [{ kind: 'interval', everyMs, from: 'start', anchor: null }, 2],
    [{ kind: 'interval', everyMs, from: 'finish', anchor: null }, 2],
    [cron(random), 2],
    [{ kind: 'manual' }, 2],
  ])
}

function cron(random: Random): Trigger {
  const expression = random.pick(['* * * * *', '*/5 * * * *', '30 */2 * * * *'])
  return { kind: 'cron', expression, zone: 'Europe/Berlin', dialect: 'extended', dst: null }
}

function randomOverlap(random: Random): Overlap {
  return random.pick<Overlap>([
    { policy: 'skip' },
    { policy: 'skip' },
    { policy: 'queue', limit: random.int(1, 3) },
    { policy: 'replace' },
    { policy: 'allow' },
  ])
}

function randomRetry(random: Random): Retry {
  return {
    limit: random.pick([0, 1, 3, null]),
    backoff: random.pick<Retry['backoff']>([
      { kind: 'fixed', delayMs: 20 * SECOND },
      { kind: 'exponential', baseMs: SECOND, maxMs: MINUTE, jitter: 0.5 },
      { kind: 'relative', maxFactor: 4 },
    ]),
    resetAfterMs: random.pick([null, 10 * MINUTE]),
    exhausted: random.pick(['stop', 'next', 'wait']),
    yields: random.chance(0.3),
  }
}
