// What a program registers, checked: the first thing wrong is told and nothing is scheduled.

import { CronError, parseCron, type Cron } from '../cron/index.ts'
import { SchedulerError, shown, type Problem } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { limits } from '../core/limits.ts'
import type { Millis } from '../core/time.ts'
import type { RunContext } from '../library/context.ts'

/** What it returns is not kept: a task that does not throw has succeeded. */
export type TaskCallback = (context: RunContext) => unknown

/** Name, strict POSIX cron, callback, and how long after a failure it is tried again. */
export type Registration = readonly [
  name: string,
  cron: string,
  callback: TaskCallback,
  retryDelayMs: number,
]

export interface Task {
  readonly name: string
  readonly cron: Cron
  readonly callback: TaskCallback
  readonly retryDelayMs: Millis
}

/** With the label in front of it a name is still one that a job may have. */
export const TASK_NAME_MAX = 150
export const TASKS_MAX = 10_000

/** Throws for the first fault, in the order of the list and of what a registration holds. */
export function checkRegistrations(given: unknown, tz: string): readonly Task[] {
  if (!Array.isArray(given)) fault('registrations', given, 'must be a list of registrations')
  const list = given as readonly unknown[]
  if (list.length > TASKS_MAX) {
    fault('registrations', list.length, `must be at most ${TASKS_MAX} registrations`)
  }
  const names = new Set<string>()
  // Not `map`: it would pass over the holes of a sparse list.
  return Array.from(list, (one, i) => checkOne(one, { field: `registrations[${i}]`, names, tz }))
}

interface Place {
  readonly field: string
  readonly names: Set<string>
  readonly tz: string
}

function checkOne(given: unknown, { field, names, tz }: Place): Task {
  if (!Array.isArray(given) || given.length !== 4) {
    fault(field, given, 'must be [name, cron, callback, retryDelayMs]')
  }
  const [first, expression, callback, delay] = given as readonly unknown[]
  const name = checkName(first, `${field}.name`)
  if (names.has(name)) fault(`${field}.name`, name, 'must be different for each task')
  names.add(name)
  if (!isCallback(callback)) fault(`${field}.callback`, callback, 'must be a function')
  const cron = checkCron(expression, { field: `${field}.cron`, name, tz })
  if (typeof delay !== 'number' || !Number.isFinite(delay) || delay < 0) {
    fault(`${field}.retryDelayMs`, delay, 'must be a finite number of milliseconds, 0 or more')
  }
  // Nothing waits longer than a year: most tasks have another occurrence before.
  const retryDelayMs = Math.min(Math.ceil(delay), limits.delayMsMax)
  return { name, cron, callback, retryDelayMs }
}

function isCallback(value: unknown): value is TaskCallback {
  return typeof value === 'function'
}

function checkName(name: unknown, field: string): string {
  if (typeof name !== 'string' || name.trim() === '') {
    fault(field, name, 'must be a text that is not empty')
  }
  const found = new Findings()
  found.text(field, name, TASK_NAME_MAX)
  for (const { rule } of found.problems) fault(field, name, rule)
  return name
}

interface CronPlace {
  readonly field: string
  readonly name: string
  readonly tz: string
}

function checkCron(expression: unknown, { field, name, tz }: CronPlace): Cron {
  if (typeof expression !== 'string') {
    fault(field, expression, 'must be a cron expression of five fields')
  }
  try {
    return parseCron(expression, { zone: tz, dialect: 'posix' })
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const { expression: text, reason } = error
    throw new SchedulerError('SPEC_INVALID', `task ${shown(name)} is not valid: ${error.message}`, {
      problems: [{ field, value: text, rule: error.message }],
      details: { expression: text, field: error.field, reason },
      cause: error,
    })
  }
}

function fault(field: string, value: unknown, rule: string): never {
  const problem: Problem = { field, value, rule }
  const message = `the tasks are not valid: ${field}: ${rule} (got ${shown(value)})`
  throw new SchedulerError('SPEC_INVALID', message, { problems: [problem] })
}
