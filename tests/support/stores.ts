// How the suites open each store: fresh data, a second handle onto it, and a way to clean up.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Instant } from '../../src/core/time.ts'
import { emptyRows } from '../../src/store/memory/rows.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import type { Store, UnopenedStore } from '../../src/store/port.ts'

export interface OpenedStore {
  readonly store: Store
  /** Where it is, for tests that reach around it; null where there is no such way. */
  readonly url: string | null
  /** Another handle onto the same data, as another process would have. */
  readonly second: () => Promise<Store>
  readonly close: () => Promise<void>
}

export type OpenStore = (clock: () => Instant) => Promise<OpenedStore>

/** Opens handles made by `connect` and closes every one of them in the end. */
export async function opened(
  connect: () => UnopenedStore,
  clean: () => Promise<void> = async () => {},
  url: string | null = null,
): Promise<OpenedStore> {
  const handles: Store[] = []
  const open = async (): Promise<Store> => {
    const store = connect()
    handles.push(store)
    await store.open()
    return store
  }
  return {
    store: await open(),
    url,
    second: open,
    close: async () => {
      for (const store of handles) await store.close()
      await clean()
    },
  }
}

export const openMemory: OpenStore = clock => {
  const rows = emptyRows()
  return opened(() => new MemoryStore(clock, rows))
}

/** A store kept in a file of a folder of its own, removed afterwards. */
export async function openInFolder(
  connect: (folder: string) => UnopenedStore,
  urlOf: (folder: string) => string | null = () => null,
): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
  return opened(
    () => connect(folder),
    () => rm(folder, { recursive: true, force: true }),
    urlOf(folder),
  )
}
