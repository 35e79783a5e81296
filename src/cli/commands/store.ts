// `carillon store`: what is done to whole stores.

import { InvalidArgumentError, type Command } from 'commander'
import process from 'node:process'
import type { CliCommand } from '../command.ts'
import { groups } from '../spec.ts'
import type { CopyFlags } from '../store-copy.ts'
import { systemTerminal, type Terminal } from '../terminal.ts'

const BATCH = 500
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

Exit codes: 0 copied and checked, 1 failed, 2 wrong usage, 5 refused because the source is in use or
the target is not empty, 6 a store cannot be reached, 130 interrupted.
`

function parseBatch(text: string): number {
  const batch = Number(text)
  if (/^\d+$/.test(text) && batch >= 1 && batch <= BATCH_MAX) return batch
  throw new InvalidArgumentError(`must be a whole number from 1 to ${BATCH_MAX}`)
}

/** The terminal is made when a command runs; tests bring their own. */
export function addStore(
  program: Command,
  terminalOf: () => Terminal,
  exit: (code: number) => void,
): void {
  program
    .command('store')
    .description('look after whole stores')
    .helpGroup(groups.host)
    .command('copy')
    .description('copy everything of one store into an empty one, and check it')
    .argument('<from>', 'sqlite:<path>, postgres://… or redis://…')
    .argument('<to>', 'an empty store, or one with an unfinished copy of the same source')
    .option('--force', 'although nodes are at work on the source')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print the summary, or what went wrong, as JSON')
    .option('--batch <n>', 'entries read and written at a time, at most', parseBatch, BATCH)
    .addHelpText('after', examples)
    .action(async (from: string, to: string, flags: CopyFlags) => {
      const { runStoreCopy } = await import('../store-copy.ts')
      exit(await runStoreCopy({ from, to }, flags, terminalOf()))
    })
}

export const command: CliCommand = {
  add: program => addStore(program, systemTerminal, code => (process.exitCode = code)),
}
