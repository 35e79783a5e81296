// A configuration file: carillon.config.{ts,js,mjs,json} in the working folder, or one that is named.

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { SchedulerError, type Problem } from '../../core/errors.ts'
import type { ConfigHandler } from '../handlers.ts'

const names = ['ts', 'mjs', 'js', 'json'].map(ending => `carillon.config.${ending}`)

export interface ConfigFile {
  readonly path: string
  readonly values: Readonly<Record<string, unknown>>
  /** Code that jobs may name, by its name. */
  readonly handlers: Readonly<Record<string, ConfigHandler>>
}

/** Null when there is none; one that was named must be there. */
export async function readConfigFile(folder: string, named?: string): Promise<ConfigFile | null> {
  const path =
    named === undefined
      ? names.map(name => join(folder, name)).find(place => existsSync(place))
      : resolve(folder, named)
  if (path === undefined) return null
  const held = await load(path)
  if (typeof held !== 'object' || held === null || Array.isArray(held)) {
    throw wrong(path, 'must export an object of settings by default')
  }
  const values = held as Record<string, unknown>
  // Commands that only look at a store read this file too, and load no handlers.
  if (values['handlers'] === undefined) return { path, values, handlers: {} }
  const { readHandlers } = await import('../handlers.ts')
  return { path, values, handlers: readHandlers(values['handlers'], path) }
}

async function load(path: string): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(readFileSync(path, 'utf8')) as unknown
    const module = (await import(pathToFileURL(path).href)) as { default?: unknown }
    return module.default
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw wrong(path, `needs Node 22.18 or newer to be read (this is ${process.version})`)
    }
    const why = error instanceof Error ? error.message : String(error)
    throw wrong(path, `cannot be read: ${why}`, error)
  }
}

function wrong(path: string, rule: string, cause?: unknown): SchedulerError {
  const problems: Problem[] = [{ field: path, value: '', rule }]
  return new SchedulerError('SETTINGS_INVALID', `${path} ${rule}`, { problems, cause })
}
