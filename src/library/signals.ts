// SIGINT and SIGTERM: the first stops in order, the second at once.

import process from 'node:process'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** The code a shell expects of a program that was interrupted. */
const INTERRUPTED = 130

export function onSignals(stop: () => Promise<unknown>): () => void {
  let isStopping = false
  const handle = () => {
    if (isStopping) process.exit(INTERRUPTED)
    isStopping = true
    stop().catch((error: unknown) => {
      process.exitCode = 1
      process.emitWarning(error instanceof Error ? error : String(error))
    })
  }
  for (const signal of SIGNALS) process.on(signal, handle)
  return () => {
    for (const signal of SIGNALS) process.off(signal, handle)
  }
}
