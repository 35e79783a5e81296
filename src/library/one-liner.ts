// `schedule()`: one shared scheduler on the default store, made on first use.

import { parseDuration } from '../core/time.ts'
import { refuseOptions } from '../core/spec/option-check.ts'
import { createScheduler } from './create.ts'
import type { RunContext } from './context.ts'
import { job } from './definition.ts'
import type { ScheduleHandle } from './handles.ts'
import { scheduleHandle } from './handles.ts'
import { callChecks } from './option-checks.ts'
import type { Policies } from './policies.ts'
import type { Scheduler } from './scheduler.ts'
import { at, cron, every, type When } from './when.ts'
import { wrong, type Duration } from './time-input.ts'

export interface ScheduleCallOptions extends Policies {
  /** Needed with a cron expression. */
  readonly tz?: string
}

let shared: Scheduler<readonly []> | null = null

/** `when` is a duration ('5m'), a cron expression (then `tz` is needed), an ISO moment or a When. */
export async function schedule(
  name: string,
  when: number | string | When,
  run: (context: RunContext) => unknown,
  options: ScheduleCallOptions = {},
): Promise<ScheduleHandle> {
  if (typeof run !== 'function') wrong('run', run, 'must be a function')
  refuseOptions(`schedule of ${name} is not valid`, options, callChecks)
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

/** Started anew after a stop or a start that failed. */
function sharedScheduler(): Promise<Scheduler<readonly []>> {
  shared ??= createScheduler({
    jobs: [],
    app: 'schedule',
    orphans: 'keep',
    print: () => {},
    shutdown: { signals: true },
  })
  return shared.start()
}

/** Stops the scheduler behind `schedule()`; the next call starts it again. */
export async function stopSchedules(): Promise<void> {
  await shared?.stop()
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
