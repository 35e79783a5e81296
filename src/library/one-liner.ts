// `schedule()`: one shared scheduler on the default store, made on first use.

import { parseDuration } from '../core/time.ts'
import { createScheduler } from './create.ts'
import type { RunContext } from './context.ts'
import { job } from './definition.ts'
import type { ScheduleHandle } from './handles.ts'
import { scheduleHandle } from './handles.ts'
import type { Policies } from './policies.ts'
import type { Scheduler } from './scheduler.ts'
import { at, cron, every, type When } from './when.ts'
import { wrong, type Duration } from './time-input.ts'

export interface ScheduleCallOptions extends Policies {
  /** Needed with a cron expression. */
  readonly tz?: string
}

let shared: Promise<Scheduler<readonly []>> | null = null

/** `when` is a duration ('5m'), a cron expression (then `tz` is needed), an ISO moment or a When. */
export async function schedule(
  name: string,
  when: number | string | When,
  run: (context: RunContext) => unknown,
  options: ScheduleCallOptions = {},
): Promise<ScheduleHandle> {
  const { tz, ...policies } = options
  const definition = job(name, {
    ...policies,
    schedule: toWhen(when, tz),
    run: (_: void, context) => run(context),
  })
  const scheduler = await sharedScheduler()
  const { engine } = scheduler
  const [row] = await scheduler.add(definition)
  return scheduleHandle(engine, row!)
}

function sharedScheduler(): Promise<Scheduler<readonly []>> {
  shared ??= createScheduler({
    jobs: [],
    app: 'schedule',
    orphans: 'keep',
    print: () => {},
    shutdown: { signals: true },
  }).start()
  return shared
}

/** Stops the scheduler behind `schedule()`; the next call makes a new one. */
export async function stopSchedules(): Promise<void> {
  const scheduler = await shared
  shared = null
  await scheduler?.stop()
}

function toWhen(when: number | string | When, tz: string | undefined): When {
  if (typeof when === 'number') return every(when)
  if (typeof when !== 'string') return when
  if (parseDuration(when) !== null) return every(when as Duration)
  if (/^\d{4}-\d{2}-\d{2}T/.test(when)) return at(when)
  if (tz === undefined)
    wrong('tz', tz, 'must name a time zone when the schedule is a cron expression')
  return cron(when, { tz })
}
