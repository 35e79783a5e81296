// The store itself, for what does not go through the service: it must be one of this machine's
// reach.

import { existsSync } from 'node:fs'
import { filePath, openStore, unopenedStore } from '../../compose.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { Maintenance } from '../../store/maintenance.ts'
import type { Store } from '../../store/port.ts'
import type { Context } from '../context.ts'
import { exits } from '../exits.ts'
import { CliProblem, usage } from '../problem.ts'
import { storeName } from '../store-name.ts'
import { placeOf } from '../target/place.ts'

export interface StorePlace {
  readonly url: string
  /** For people. */
  readonly name: string
}

/** Throws for a service: `verb` says what only a store can do. */
export async function storePlace(context: Context, verb: string): Promise<StorePlace> {
  const place = await placeOf(context.globals)
  if (place.kind === 'remote') {
    throw usage(`${verb} works on a store, not through a service`, 'name it with --store')
  }
  return checkedPlace(place.config.store)
}

export function checkedPlace(url: string): StorePlace {
  if (url === 'memory:') throw usage('memory: ends with the process that has it')
  if (url.startsWith('sqlite:') && !existsSync(filePath(url))) {
    throw new CliProblem(exits.unreachable, `there is no store at ${filePath(url)}`)
  }
  return { url, name: storeName(url) }
}

export async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, {
    now: () => systemClock.now(),
    listens: true,
    migrates: false,
  })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Without opening the store, which may have another version or not be there yet. */
export async function withMaintenance<T>(
  url: string,
  work: (maintenance: Maintenance) => Promise<T>,
): Promise<T> {
  const store = await unopenedStore(url)
  try {
    return await work(store.maintenance)
  } finally {
    await store.close()
  }
}
