// What the options of a scheduler may hold.

import type { Problem } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import {
  anything,
  checkOptions,
  isFlag,
  isFunction,
  isNullOr,
  isObject,
  isOneOf,
  isRecordOf,
  isText,
  type Check,
  type Checks,
} from '../core/spec/option-check.ts'
import { engineDefaults, type QueueSettings } from '../runtime/settings.ts'
import type { LibraryOptions as SourceOptions } from '../sources/open.ts'
import type { WorkflowOptions } from '../workflows/open.ts'
import { policyChecks } from './option-checks.ts'
import type { AnyDefinition } from './options.ts'
import { isDuration } from './time-input.ts'

function isDefinition(value: unknown): value is AnyDefinition {
  if (typeof value !== 'object' || value === null) return false
  const { name, options } = value as Partial<AnyDefinition>
  return typeof name === 'string' && typeof options?.run === 'function'
}

const areJobs: Check = (found, field, value) => {
  if (!Array.isArray(value)) {
    found.add(field, value, 'a list of jobs')
    return
  }
  const names = new Set<string>()
  for (const [i, one] of value.entries()) {
    if (!isDefinition(one)) found.add(`${field}.${i}`, one, 'a job made by job()')
    else if (names.has(one.name)) {
      found.problems.push({ field, value: one.name, rule: 'must have different names' })
    } else names.add(one.name)
  }
}

const isStore: Check = (found, field, value) => {
  const isOpen = typeof value === 'object' && value !== null && 'claim' in value
  if (isOpen || (typeof value === 'string' && value !== '')) return
  found.add(field, value, 'a store such as sqlite:jobs.db, memory:, postgres://… or redis://…')
}

const isGeneration: Check = (found, field, value) => {
  if (typeof value !== 'string' && typeof value !== 'number') {
    found.add(field, value, 'a text or a number')
  }
}

const queueChecks: Checks<QueueSettings> = { slots: anything, buffer: anything }
const areHosts: Check = (found, field, value) => {
  const fits = Array.isArray(value) && value.every(host => typeof host === 'string')
  if (!fits) found.add(field, value, 'a list of hosts')
}

const workflowChecks: Checks<WorkflowOptions> = { allowHosts: areHosts, env: anything }
const sourceChecks: Checks<SourceOptions> = {
  allowHosts: areHosts,
  database: isText,
  env: anything,
  limits: anything,
}

/** Values of settings are checked where they are used: by the engine. */
const settingChecks = Object.fromEntries(Object.keys(engineDefaults).map(name => [name, anything]))

/** Typed where the options are: the compiler asks there for checks of new ones. */
export const schedulerChecks = {
  jobs: areJobs,
  store: isStore,
  app: isText,
  generation: isGeneration,
  orphans: isOneOf('archive', 'forget', 'keep'),
  mode: isOneOf('open', 'declared'),
  defaults: isObject(policyChecks),
  slots: anything,
  queues: isNullOr(isRecordOf(isObject(queueChecks))),
  nodeId: isText,
  checkIntervalMs: anything,
  lockDurationMs: anything,
  staleLockCheckMs: anything,
  metricsMs: anything,
  orphanGraceMs: anything,
  waitingMax: anything,
  settings: isObject(settingChecks),
  workflows: isObject(workflowChecks),
  sources: isObject(sourceChecks),
  shutdown: isObject({ signals: isFlag, grace: isDuration }),
  logger: anything,
  listen: isFunction,
  print: isFunction,
  clock: anything,
  ids: anything,
}

export function schedulerProblems(
  options: unknown,
  checks: Readonly<Record<string, Check>> = schedulerChecks,
): readonly Problem[] {
  const found = new Findings()
  checkOptions(found, options, checks, { required: ['jobs'] })
  return found.problems
}
