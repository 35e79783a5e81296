// `carillon store copy`: a whole store moved to another, with a question before and a table after.

import { existsSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { openStore } from '../compose.ts'
import {
  COPY_BATCH,
  copyStore,
  type CopyEnd,
  type CopyProgress,
  type CopyReport,
} from '../copy/copy.ts'
import { entryTypes } from '../core/entry.ts'
import { SchedulerError } from '../core/errors.ts'
import { systemClock } from '../engine/clock.ts'
import { copyProgress } from './copy-progress.ts'
import { storeName } from './store-name.ts'

/** Where a command speaks and listens. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Whether a person reads what goes to `err`. */
  readonly isTerminal: boolean
  /** Null when there is nobody to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null
  /** Aborted when the person wants to stop. */
  readonly signal?: AbortSignal
}

export interface CopyFlags {
  readonly force?: boolean
  readonly yes?: boolean
  readonly json?: boolean
  readonly batch?: number
}

export const EXIT_DONE = 0
export const EXIT_REFUSED = 1
export const EXIT_USAGE = 2
export const EXIT_STOPPED = 130

const BATCH_MAX = 10_000

const examples = `
Examples:
  # move from one file to PostgreSQL
  carillon store copy sqlite:.carillon/carillon.db postgres://user@db.example.com/jobs

  # into a namespace of Redis, without being asked, for a script
  carillon store copy sqlite:/var/lib/jobs.db 'redis://cache:6379/0?namespace=jobs' --yes --json

Stop every node of the source first; nothing of the source is changed. A copy that was interrupted
goes on when the same command is given again. Until it is finished the queues of the target are
paused.

Exit codes: 0 copied and checked, 1 refused or failed, 2 wrong usage, 130 interrupted.
`

export function storeCommand(terminal: Terminal, exit: (code: number) => void): Command {
  const store = new Command('store').description('look after stores')
  store
    .command('copy')
    .description('copy everything of one store into an empty one, and check it')
    .argument('<from>', 'sqlite:<path>, postgres://… or redis://…')
    .argument('<to>', 'an empty store, or one with an unfinished copy of the same source')
    .option('--force', 'although nodes are at work on the source')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print the summary as JSON')
    .option('--batch <n>', `entries at a time (default ${COPY_BATCH})`, parseBatch)
    .addHelpText('after', examples)
    .action(async (from: string, to: string, flags: CopyFlags) => {
      exit(await runStoreCopy(from, to, flags, terminal))
    })
  return store
}

function parseBatch(text: string): number {
  const batch = Number(text)
  if (/^\d+$/.test(text) && batch >= 1 && batch <= BATCH_MAX) return batch
  throw new InvalidArgumentError(`must be a whole number from 1 to ${BATCH_MAX}`)
}

export async function runStoreCopy(
  fromUrl: string,
  toUrl: string,
  flags: CopyFlags,
  terminal: Terminal,
): Promise<number> {
  const [from, to] = [storeName(fromUrl), storeName(toUrl)]
  const wrong = wrongEnds(fromUrl, toUrl)
  if (wrong !== null) return told(terminal, flags, { code: 'SETTINGS_INVALID', message: wrong })
  if (!flags.yes) {
    if (terminal.confirm === null) {
      terminal.err('nobody is there to ask: give --yes to copy without being asked\n')
      return EXIT_USAGE
    }
    if (!(await terminal.confirm(`Copy everything of ${from} into ${to}? [y/N] `))) {
      terminal.err('nothing was copied\n')
      return EXIT_REFUSED
    }
  }
  const { err: write, isTerminal } = terminal
  const progress = copyProgress({ write, isTerminal, now: () => systemClock.now() })
  try {
    const report = await copied([fromUrl, toUrl], flags, terminal, progress.tell)
    progress.end()
    terminal.out(flags.json ? `${JSON.stringify(report)}\n` : summary(report))
    return EXIT_DONE
  } catch (error) {
    progress.end()
    if (terminal.signal?.aborted === true) {
      terminal.err('interrupted; the same command goes on with it\n')
      return EXIT_STOPPED
    }
    if (!(error instanceof SchedulerError)) throw error
    return told(terminal, flags, error)
  }
}

function wrongEnds(from: string, to: string): string | null {
  if (from === 'memory:' || to === 'memory:') return 'memory: ends with its process'
  if (storeName(from) === storeName(to)) return 'a store cannot be copied into itself'
  const path = from.startsWith('sqlite:') ? from.slice('sqlite:'.length) : null
  return path !== null && !existsSync(path) ? `${storeName(from)} does not exist` : null
}

function told(
  { err }: Terminal,
  { json }: CopyFlags,
  { code, message }: { readonly code: string; readonly message: string },
): number {
  err(json ? `${JSON.stringify({ error: { code, message } })}\n` : `error: ${message} (${code})\n`)
  return EXIT_REFUSED
}

type Urls = readonly [from: string, to: string]

/** Both stores are closed again, whatever happens. */
async function copied(
  urls: Urls,
  { force = false, batch }: CopyFlags,
  { signal }: Terminal,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const ends: CopyEnd[] = []
  try {
    for (const url of urls) {
      const store = await openStore(url, { now: () => systemClock.now(), listens: true })
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
