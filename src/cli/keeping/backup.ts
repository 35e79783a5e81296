// What `carillon backup` does: a copy in one file that is a store itself, checked before it gets
// its name.

import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyStore } from '../../copy/copy.ts'
import { pagesOf } from '../../copy/pages.ts'
import { differing, Summing, type Sums } from '../../copy/sums.ts'
import { entryTypes } from '../../core/stored/entry.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { Store } from '../../store/port.ts'
import type { Context } from '../context.ts'
import { copyProgress } from '../copy-progress.ts'
import { exits } from '../exits.ts'
import { CliProblem } from '../problem.ts'
import { withMigrated } from './check.ts'
import { withStore, withMaintenance, type StorePlace } from './store.ts'

const BATCH = 500

export interface BackupReport {
  readonly store: string
  readonly file: string
  readonly bytes: number
  readonly sums: Sums
  /** Nobody wrote meanwhile: the copy equals the store entry by entry. */
  readonly isCompared: boolean
  /** The store has an older version, and so has the copy. */
  readonly isOlder: boolean
}

/** Nothing is left of a copy that failed. */
export async function backUp(
  context: Context,
  place: StorePlace,
  file: string,
): Promise<BackupReport> {
  const partial = `${file}.partial`
  removeFiles(partial)
  try {
    if (await isOlderFile(place, partial)) {
      const sums = await withMigrated(partial, copy => summed(copy, context.signal))
      renameSync(partial, file)
      return { ...reportOf(place, file), sums: sums.sums, isCompared: false, isOlder: true }
    }
    const source = await written(context, place, partial)
    const { sums } = await withStore(`sqlite:${partial}`, async copy => {
      await refuseDamaged(copy)
      return summed(copy, context.signal)
    })
    const isCompared = source !== null
    if (isCompared && differing(source, sums, entryTypes).length > 0) {
      throw new CliProblem(exits.failed, `the copy does not hold what ${place.name} does`)
    }
    renameSync(partial, file)
    return { ...reportOf(place, file), sums, isCompared, isOlder: false }
  } finally {
    removeFiles(partial)
  }
}

function reportOf(place: StorePlace, file: string) {
  return { store: place.name, file, bytes: statSync(file).size }
}

/** Writes the copy of a store of an older version, which nothing but a start or a person migrates. */
async function isOlderFile(place: StorePlace, partial: string): Promise<boolean> {
  return withMaintenance(place.url, async maintenance => {
    const version = await maintenance.version()
    if (maintenance.backup === null || version === 0 || version === maintenance.latest) return false
    await maintenance.backup(partial)
    return true
  })
}

/** The sums of the source if nobody wrote to it meanwhile; otherwise there is nothing to compare. */
async function written(context: Context, place: StorePlace, partial: string): Promise<Sums | null> {
  return withMaintenance(place.url, async ({ backup }) => {
    if (backup === null) {
      return copied(context, place, partial)
    }
    const before = await withStore(place.url, store => summed(store, context.signal))
    await backup(partial)
    const after = await withStore(place.url, store => summed(store, context.signal))
    return differing(before.sums, after.sums, entryTypes).length === 0 ? before.sums : null
  })
}

/** Nodes may go on: a run that is going on then is due again in a store this is restored to. */
async function copied(
  context: Context,
  { url, name }: StorePlace,
  partial: string,
): Promise<Sums | null> {
  const { err: write, isTerminal } = context.terminal
  const progress = copyProgress({ write, isTerminal, now: () => systemClock.now() })
  const isShown = isTerminal && !context.globals.isQuiet
  const report = await withStore(url, from =>
    withStore(`sqlite:${partial}`, to =>
      copyStore({
        from: { store: from, name },
        to: { store: to, name: partial },
        force: true,
        signal: context.signal,
        ...(isShown ? { onProgress: progress.tell } : {}),
      }),
    ),
  )
  if (isShown) progress.end()
  const isSame = !report.hasChanged && report.abandoned === 0 && report.leftOut === 0
  return isSame ? report.sums : null
}

async function summed(store: Store, signal: AbortSignal): Promise<Summing> {
  const sums = new Summing()
  for await (const _ of pagesOf(store, { batch: BATCH, sums, signal }));
  return sums
}

async function refuseDamaged(copy: Store): Promise<void> {
  const faults = await copy.maintenance.inspect(1)
  const damage = faults.find(({ kind }) => kind === 'damage')
  if (damage) throw new CliProblem(exits.failed, `the copy is damaged: ${damage.about}`)
}

function removeFiles(path: string): void {
  for (const end of ['', '-wal', '-shm', '-wake']) {
    if (existsSync(`${path}${end}`)) rmSync(`${path}${end}`)
  }
}
