// What `carillon migrate check` does: a backup made before a migration, compared with the store.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filePath, openStore } from '../../compose.ts'
import { checkMigration, type MigrationCheck } from '../../copy/check.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { Store } from '../../store/port.ts'
import type { Context } from '../context.ts'
import { exits } from '../exits.ts'
import { CliProblem } from '../problem.ts'
import { withMaintenance, withStore, type StorePlace } from './store.ts'

export async function checkAgainst(
  context: Context,
  place: StorePlace,
  backup: string,
): Promise<MigrationCheck> {
  const path = filePath(backup)
  if (!existsSync(path)) throw new CliProblem(exits.unreachable, `there is no backup at ${path}`)
  const { signal } = context
  return withStore(place.url, after =>
    withMigrated(path, before => checkMigration({ before, after, signal })),
  )
}

/** A copy of the file is brought up to date and opened; the file stays what it is. */
export async function withMigrated<T>(
  path: string,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-check-'))
  const copy = join(folder, 'copy.db')
  try {
    copyFileSync(path, copy)
    await withMaintenance(`sqlite:${copy}`, maintenance => maintenance.migrate(maintenance.latest))
    const store = await openStore(`sqlite:${copy}`, {
      now: () => systemClock.now(),
      listens: false,
    })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
