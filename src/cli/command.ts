// What a command of the `carillon` program is. Each lives in a file of its own in `commands`, which
// is all it takes to add one.

import type { Command } from 'commander'

export interface CliCommand {
  /** Adds itself to the program. What it needs is loaded when it runs, so that others start fast. */
  readonly add: (program: Command) => void
}

/** What a shell is told; scripts rely on the numbers. */
export const exits = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  auth: 4,
  state: 5,
  unreachable: 6,
  timedOut: 7,
  partly: 8,
  interrupted: 130,
} as const
