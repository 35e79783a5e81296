// What `carillon store copy` does: a question before, how far it is, and a table after.

import { existsSync } from 'node:fs'
import { openStore } from '../compose.ts'
import { copyStore, type CopyEnd, type CopyProgress, type CopyReport } from '../copy/copy.ts'
import { entryTypes } from '../core/stored/entry.ts'
import { SchedulerError, type ErrorCode } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import { exits } from './exits.ts'
import { copyProgress } from './copy-progress.ts'
import { storeName } from './store-name.ts'
import type { Terminal } from './terminal.ts'

export interface CopyFlags {
  readonly force?: boolean
  readonly yes?: boolean
  readonly json?: boolean
  readonly batch?: number
}

export interface Ends {
  readonly from: string
  readonly to: string
}

/** Answers with the exit code. */
export async function runStoreCopy(
  urls: Ends,
  flags: CopyFlags,
  terminal: Terminal,
): Promise<number> {
  const [from, to] = [storeName(urls.from), storeName(urls.to)]
  const wrong = wrongEnds(urls)
  if (wrong !== null) return told(terminal, flags, { code: 'SETTINGS_INVALID', message: wrong })
  if (!flags.yes) {
    if (terminal.confirm === null) {
      terminal.err('nobody is there to ask: give --yes to copy without being asked\n')
      return exits.usage
    }
    if (!(await terminal.confirm(`Copy everything of ${from} into ${to}? [y/N] `))) {
      terminal.err('nothing was copied\n')
      return exits.failed
    }
  }
  const { err: write, isTerminal } = terminal
  const progress = copyProgress({ write, isTerminal, now: () => systemClock.now() })
  try {
    const report = await copied(urls, flags, terminal, progress.tell)
    progress.end()
    terminal.out(flags.json ? `${JSON.stringify(report)}\n` : summary(report))
    return exits.ok
  } catch (error) {
    progress.end()
    if (terminal.signal?.aborted === true) {
      terminal.err('interrupted; the same command goes on with it\n')
      return exits.interrupted
    }
    if (!(error instanceof SchedulerError)) throw error
    return told(terminal, flags, error)
  }
}

function wrongEnds({ from, to }: Ends): string | null {
  if (from === 'memory:' || to === 'memory:') return 'memory: ends with its process'
  if (storeName(from) === storeName(to)) return 'a store cannot be copied into itself'
  const path = from.startsWith('sqlite:') ? from.slice('sqlite:'.length) : null
  return path !== null && !existsSync(path) ? `${storeName(from)} does not exist` : null
}

function told(
  { err }: Terminal,
  { json }: CopyFlags,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
): number {
  err(json ? `${JSON.stringify({ error: { code, message } })}\n` : `error: ${message} (${code})\n`)
  return codes[code] ?? exits.failed
}

const codes: Readonly<Partial<Record<ErrorCode, number>>> = {
  SETTINGS_INVALID: exits.usage,
  STORE_NOT_EMPTY: exits.state,
  STORE_IN_USE: exits.state,
  STORE_UNAVAILABLE: exits.unreachable,
  STORE_FULL: exits.unreachable,
  STORE_READ_ONLY: exits.unreachable,
}

/** Both stores are closed again, whatever happens. */
async function copied(
  urls: Ends,
  { force = false, batch }: CopyFlags,
  { signal }: Terminal,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const ends: CopyEnd[] = []
  try {
    for (const url of [urls.from, urls.to]) {
      const store = await openStore(url, {
        now: () => systemClock.now(),
        listens: true,
        migrates: false,
      })
      ends.push({ store, name: storeName(url) })
    }
    const [from, to] = ends as [CopyEnd, CopyEnd]
    return await copyStore({
      from,
      to,
      force,
      onProgress,
      ...(batch === undefined ? {} : { batch }),
      ...(signal === undefined ? {} : { signal }),
    })
  } finally {
    for (const { store } of ends) await store.close()
  }
}

function summary(report: CopyReport): string {
  const { from, to, sums, abandoned, leftOut, hasChanged, isContinued } = report
  const rows = entryTypes.map(type => {
    const { count, checksum } = sums[type]
    return `  ${type.padEnd(10)}${String(count).padStart(12)}  ${checksum}`
  })
  const notes = [
    ...(isContinued ? ['A copy that was interrupted was continued.'] : []),
    ...(abandoned > 0 ? [`Runs of nodes that are gone, due again in the copy: ${abandoned}.`] : []),
    ...(leftOut > 0 ? [`Entries of a source at work that did not fit together: ${leftOut}.`] : []),
    ...(hasChanged ? ['The source was written to meanwhile: the copy is as it was read.'] : []),
  ]
  const head = `  ${'entries'.padEnd(10)}${'count'.padStart(12)}  checksum`
  return [`copied ${from} into ${to}`, head, ...rows, ...notes, ''].join('\n')
}
