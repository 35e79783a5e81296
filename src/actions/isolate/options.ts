// What may be said about an isolated handler, and what is wrong with it.

import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Findings } from '../../core/findings.ts'
import {
  checkOptions,
  isOneOf,
  isText,
  isWhole,
  type Check,
  type Checks,
} from '../../core/spec/option-check.ts'
import { isUsageKnown } from '../usage.ts'
import { systemClock } from '../../runtime/clock.ts'
import { CPU_SECONDS, MEMORY_MB } from './bounds.ts'
import type { IsolationOptions } from './isolate.ts'

export const isolateKinds = ['process', 'thread'] as const
export type IsolateKind = (typeof isolateKinds)[number]

/** Settings of one isolated handler. */
export interface IsolateOptions {
  /** The exported function. Default `default`. */
  readonly export?: string
  /** A process can be ended and measured whatever it does; a thread starts faster. Default process. */
  readonly kind?: IsolateKind
  /** The most memory: of a process as a whole, of a thread its heap. Default: no limit. */
  readonly memoryMb?: number
  /** The most CPU time of one attempt. Default: no limit. */
  readonly cpuSeconds?: number
}

export const isolateChecks: Checks<IsolateOptions> = {
  export: isText,
  kind: isOneOf(...isolateKinds),
  memoryMb: isWhole(MEMORY_MB.min, MEMORY_MB.max),
  cpuSeconds: isWhole(CPU_SECONDS.min, CPU_SECONDS.max),
}

/** A file URL or an absolute path: what a relative path starts from cannot be told. */
export const isModule: Check = (found, field, value) => {
  const path = pathOf(value)
  if (path === null) {
    found.add(field, value, 'a file URL or an absolute path')
  } else if (!existsSync(path)) {
    found.problems.push({ field, value: path, rule: 'does not exist' })
  }
}

function pathOf(value: unknown): string | null {
  const text = value instanceof URL ? value.href : value
  if (typeof text !== 'string') return null
  if (text.startsWith('file:') && URL.canParse(text)) return fileURLToPath(text)
  return isAbsolute(text) ? text : null
}

/** Of a module that `isModule` accepts. */
export function moduleUrl(module: URL | string): string {
  return pathToFileURL(pathOf(module)!).href
}

export function checkIsolation(found: Findings, options: unknown, field = ''): void {
  checkOptions(found, options, isolateChecks, { field })
  const { kind, cpuSeconds } = (options ?? {}) as IsolateOptions
  if (kind !== 'thread' || cpuSeconds === undefined || isUsageKnown) return
  const rule = `must go with kind process: ${process.platform} does not tell the CPU time of threads`
  found.problems.push({ field: `${field}${field && '.'}cpuSeconds`, value: cpuSeconds, rule })
}

export function isolationOf({
  kind = 'process',
  memoryMb,
  cpuSeconds,
}: IsolateOptions): IsolationOptions {
  return { clock: systemClock, kind, memoryMb, cpuSeconds }
}
