// Programs with declared tasks in a world of virtual time: each has a handle of its own onto the
// store, writes down what its callbacks do, and can die.

import { HOUR, MINUTE, type Instant } from '../../src/core/time.ts'
import { createTaskScheduler, type Registration } from '../../src/index.ts'
import type { TaskScheduler, TaskSchedulerOptions } from '../../src/index.ts'
import type { Store } from '../../src/store/port.ts'
import { trackedStore } from '../../src/testing/tracked.ts'
import type { World } from './world.ts'

/** What only serves other processes need not interrupt the passing of time. */
export const calm = {
  checkIntervalMs: HOUR,
  reapMs: 10 * MINUTE,
  idleReapMs: HOUR,
  cancelCheckMs: 4_000,
  metricsMs: HOUR,
  pruneMs: 6 * HOUR,
}

export interface Program {
  readonly scheduler: TaskScheduler
  /** Lines of the log: level and message. */
  readonly lines: string[]
  /** The fields of the one line that a start writes, if it wrote it. */
  readonly reports: readonly object[]
  initialize(registrations: readonly Registration[]): Promise<void>
  stop(): Promise<void>
  /** As if its process were gone: nothing it does reaches the store any more. */
  die(): void
  /** Takes the store away for a while. */
  lose(isLost: boolean): void
}

export async function program(
  world: World,
  options: Omit<TaskSchedulerOptions, 'store' | 'clock' | 'logger'> = {},
  wrap: (store: Store) => Store = store => store,
): Promise<Program> {
  const tracked = trackedStore(wrap(await world.handle()), world.clock)
  const lines: string[] = []
  const reports: object[] = []
  const at = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message}`)
    if (message.startsWith('carillon: tasks')) reports.push(fields)
  }
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const { settings, ...rest } = options
  const scheduler = createTaskScheduler({
    tz: 'UTC',
    store: tracked.store,
    clock: world.wall,
    logger,
    settings: { ...calm, ...settings },
    ...rest,
  })
  return {
    scheduler,
    lines,
    reports,
    initialize: registrations => world.until(scheduler.initialize(registrations)),
    stop: () => world.until(scheduler.stop()),
    die: () => (tracked.isLost = true),
    lose: isLost => (tracked.isLost = isLost),
  }
}

export interface Calls {
  /** `name hh:mm` of every call, in order. */
  readonly times: string[]
  readonly at: Instant[]
  /** A registration whose calls end as the script says; its last word is repeated. */
  readonly task: (
    name: string,
    cron: string,
    retryDelayMs?: number,
    ...script: Ending[]
  ) => Registration
}

export type Ending = 'ok' | 'fail' | (() => unknown)

export function callsOf(world: World): Calls {
  const times: string[] = []
  const at: Instant[] = []
  return {
    times,
    at,
    task: (name, cron, retryDelayMs = 0, ...script) => {
      let count = 0
      const callback = (): unknown => {
        at.push(world.now)
        times.push(`${name} ${new Date(world.now).toISOString().slice(11, 16)}`)
        const ending = script[Math.min(count++, script.length - 1)] ?? 'ok'
        if (ending === 'fail') throw new Error(`failure ${count}`)
        return ending === 'ok' ? undefined : ending()
      }
      return [name, cron, callback, retryDelayMs]
    },
  }
}

/** Something a callback waits for. */
export function door(): {
  readonly wait: () => Promise<void>
  readonly open: () => void
  readonly slam: () => void
} {
  let open = () => {}
  let slam = () => {}
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve
    slam = () => reject(new Error('the door was slammed'))
  })
  opened.catch(() => {})
  return { wait: () => opened, open, slam }
}
