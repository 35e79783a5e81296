// How the fair queue does on this node.

import { z } from 'zod'
import { isoOrNull } from '../../use-cases/jobs/view.ts'
import { healthOf, type FairHealth } from '../../../fair/health.ts'
import type { Engine } from '../../../create-engine.ts'
import { scopeOf } from '../../auth/principal.ts'
import { inTime } from '../../use-cases/system/probe.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

const errorKinds = ['store', 'claim', 'record', 'push', 'cron'] as const

const healthAnswer = z
  .strictObject({
    state: z.enum(['stopped', 'starting', 'running', 'stopping', 'error']),
    uptime_seconds: z.number(),
    last_good_tick_at: z.string().nullable(),
    store: z.enum(['up', 'down']),
    store_down_since: z.string().nullable(),
    leases_lost: z.int(),
    due: z.int().nullable().meta({
      description: 'Due tasks of your tenant in the store; null while it does not answer.',
    }),
    running: z.int().nullable().meta({ description: 'Its tasks that run, on any node.' }),
    late_max_ms: z.number().meta({ description: 'Of task starts and of firings of schedules.' }),
    processed_per_second: z.number(),
    claim_success_rate: z.number(),
    push_success_rate: z.number(),
    tick_ms_average: z.number(),
    errors: z.strictObject(
      Object.fromEntries(errorKinds.map(kind => [kind, z.int()])) as Record<
        (typeof errorKinds)[number],
        z.ZodInt
      >,
    ),
    recoveries: z.int(),
  })
  .meta({
    id: 'FairHealth',
    description: 'Of this node, over five minutes; errors since its start.',
  })

export const getFairHealth = useCase({
  access: 'viewer',
  result: healthAnswer,
  handle: async call => {
    const counted = countTasks(call.engine, scopeOf(call.caller))
    const tasks = await inTime(counted, call.engine.clock)
    return { ...healthView(healthOf(call.engine)), ...(tasks ?? { due: null, running: null }) }
  },
})

/** What the store holds for the caller: the node may serve only some queues of it. */
async function countTasks({ store, clock }: Engine, of: { readonly tenant?: string }) {
  const until = clock.now() + 1
  const [counts, [due = 0]] = await Promise.all([
    store.counts(of),
    store.countDue({ ...of, kind: 'task', from: 0, until, widthMs: until }),
  ])
  const running = counts.filter(({ kind, state }) => kind === 'task' && state === 'running')
  return { due, running: running.reduce((sum, { count }) => sum + count, 0) }
}

function healthView(health: FairHealth) {
  return {
    state: health.state,
    uptime_seconds: health.uptimeMs / 1_000,
    last_good_tick_at: isoOrNull(health.lastGoodTickAt),
    store: health.isStoreUp ? ('up' as const) : ('down' as const),
    store_down_since: isoOrNull(health.storeDownSince),
    leases_lost: health.leasesLost,
    late_max_ms: health.lateMaxMs,
    processed_per_second: health.processedPerSecond,
    claim_success_rate: health.claimSuccessRate,
    push_success_rate: health.pushSuccessRate,
    tick_ms_average: health.tickMsAverage,
    errors: { ...health.errors },
    recoveries: health.recoveries,
  }
}
