// Opens the target that is meant. The service's code is loaded only for a store of this machine.

import { existsSync } from 'node:fs'
import { exits } from '../exits.ts'
import type { Globals } from '../globals.ts'
import { CliProblem, usage } from '../problem.ts'
import { storeName } from '../store-name.ts'
import { placeOf, type Place } from './place.ts'
import type { Target } from './target.ts'

export interface OpenOptions {
  /** Makes the store when there is none: for commands that put something into it. */
  readonly mayCreate: boolean
}

export interface Opened {
  readonly target: Target
  readonly isDefault: boolean
}

export async function openTarget(globals: Globals, options: OpenOptions): Promise<Opened> {
  const place = await placeOf(globals)
  const target = place.kind === 'remote' ? await remote(place) : await local(place, options)
  return { target, isDefault: place.isDefault }
}

async function remote({ url, token }: Extract<Place, { kind: 'remote' }>): Promise<Target> {
  const { remoteApi } = await import('./remote.ts')
  const client = remoteApi(url, token)
  return { kind: 'remote', name: url, client, close: async () => {} }
}

async function local(
  { config, handlers }: Extract<Place, { kind: 'local' }>,
  { mayCreate }: OpenOptions,
): Promise<Target> {
  const name = storeName(config.store)
  if (config.store === 'memory:') throw usage('memory: ends with the process that has it')
  if (!mayCreate && !(await isThere(config.store))) {
    const at = pathOf(config.store) ?? name
    const hint = 'start one with carillon dev, or name a service with --server'
    throw new CliProblem(exits.unreachable, `there is no store at ${at} yet`, hint)
  }
  const { localApi, openLocal } = await import('./local.ts')
  const service = await openLocal(config, handlers)
  return { kind: 'local', name, client: localApi(service), close: () => service.close() }
}

function pathOf(store: string): string | null {
  return store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : null
}

/** Opening a store creates its tables: a command that only reads must not bring back a removed store. */
async function isThere(store: string): Promise<boolean> {
  const path = pathOf(store)
  if (path !== null && !existsSync(path)) return false
  const { unopenedStore } = await import('../../compose.ts')
  const unopened = await unopenedStore(store)
  try {
    return (await unopened.maintenance.version()) > 0
  } finally {
    await unopened.close()
  }
}
