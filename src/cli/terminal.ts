// Where a command speaks and listens: the standard streams, a question, and the wish to stop.

import process from 'node:process'
import { isatty } from 'node:tty'

export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Whether a person reads what goes to `err`. */
  readonly isTerminal: boolean
  /** Null when there is nobody to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null
  /** Aborted when the person wants to stop. */
  readonly signal?: AbortSignal
  /** Stops listening for signals. */
  readonly close?: () => void
}

export function systemTerminal(): Terminal & { readonly close: () => void } {
  const stop = new AbortController()
  // Once: a second wish to stop ends the process at once, as ever.
  const abort = () => stop.abort()
  process.once('SIGINT', abort)
  process.once('SIGTERM', abort)
  return {
    out: text => void process.stdout.write(text),
    err: text => void process.stderr.write(text),
    isTerminal: isatty(2),
    confirm: isatty(0) ? confirm : null,
    signal: stop.signal,
    close: () => {
      process.off('SIGINT', abort)
      process.off('SIGTERM', abort)
    },
  }
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim())
  } finally {
    asking.close()
  }
}
