// Handlers of a configuration file: functions, or modules that run apart from the node.

import { dirname, resolve } from 'node:path'
import { refuse, type Problem } from '../core/errors.ts'
import { isActionName } from '../core/spec/action-name.ts'
import { Findings } from '../core/findings.ts'
import type { Handler } from '../engine/handlers.ts'
import { isolatedHandler } from '../actions/isolate/handler.ts'
import {
  checkIsolation,
  isModule,
  isolationOf,
  moduleUrl,
  type IsolateOptions,
} from '../actions/isolate/options.ts'
import type { ServeConfig } from './config/config.ts'

/** Where the code of a handler is. */
export interface HandlerModule {
  readonly module: string
  /** The export, and members below it. */
  readonly path: readonly string[]
  readonly options: IsolateOptions
  /** The same function in this process; null where it is only loaded apart. */
  readonly inNode: Handler | null
}

export type ConfigHandler = Handler | HandlerModule

const PREFIX = 'handlers.'

/** Refuses with every problem at once; modules are found from the folder of the file. */
export function readHandlers(given: unknown, path: string): Record<string, ConfigHandler> {
  const found = new Findings()
  const handlers: Record<string, ConfigHandler> = {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    found.add('handlers', given, 'functions or modules by name')
  } else {
    for (const [name, one] of Object.entries(given)) {
      if (isActionName(name)) {
        const rule = 'must not have the name of a built-in action'
        found.problems.push({ field: `${PREFIX}${name}`, value: name, rule })
      }
      const handler = readHandler(one, { field: `${PREFIX}${name}`, path }, found)
      if (handler !== null) handlers[name] = handler
    }
  }
  const problems = found.problems.map((problem): Problem => ({
    ...problem,
    field: `${problem.field} in ${path}`,
  }))
  refuse('SETTINGS_INVALID', `${path} is not valid`, problems)
  return handlers
}

interface HandlerField {
  readonly field: string
  readonly path: string
}

function readHandler(
  given: unknown,
  { field, path }: HandlerField,
  found: Findings,
): ConfigHandler | null {
  if (typeof given === 'function') {
    const own = ['default', 'handlers', field.slice(PREFIX.length)]
    return { module: path, path: own, options: {}, inNode: given as Handler }
  }
  if (typeof given !== 'object' || given === null || !('module' in given)) {
    found.add(field, given, "a function, or { module: './handler.mjs' }")
    return null
  }
  const { module, ...options } = given
  const isPath = typeof module === 'string' && !module.startsWith('file:')
  const file = isPath ? resolve(dirname(path), module) : (module as string)
  const before = found.problems.length
  isModule(found, `${field}.module`, file)
  checkIsolation(found, options, field)
  if (found.problems.length > before) return null
  const { export: name = 'default' } = options as IsolateOptions
  return { module: file, path: [name], options, inNode: null }
}

/** As settings say, functions run in the node or apart from it; modules always run apart. */
export function bindHandlers(
  handlers: Readonly<Record<string, ConfigHandler>>,
  config: Pick<ServeConfig, 'isolate' | 'isolateMemoryMb' | 'isolateCpuSeconds'>,
): ReadonlyMap<string, Handler> {
  const defaults = isolationDefaults(config)
  const bound = Object.entries(handlers).map(([name, handler]): [string, Handler] => {
    if (typeof handler === 'function') return [name, handler]
    const { module, path, options, inNode } = handler
    if (inNode !== null && config.isolate === 'none') return [name, inNode]
    const where = { module: moduleUrl(module), path }
    return [name, isolatedHandler(where, isolationOf({ ...defaults, ...options }))]
  })
  return new Map(bound)
}

function isolationDefaults(
  config: Pick<ServeConfig, 'isolate' | 'isolateMemoryMb' | 'isolateCpuSeconds'>,
): IsolateOptions {
  const { isolate, isolateMemoryMb, isolateCpuSeconds } = config
  return {
    ...(isolate === 'none' ? {} : { kind: isolate }),
    ...(isolateMemoryMb === null ? {} : { memoryMb: isolateMemoryMb }),
    ...(isolateCpuSeconds === null ? {} : { cpuSeconds: isolateCpuSeconds }),
  }
}
