// Processes that stay: the first signal lets running jobs finish, the second does not wait.

import process from 'node:process'
import { exits } from './exits.ts'
import { fail } from './fail.ts'

export function stopOnSignals(stop: () => Promise<{ readonly clean: boolean }>): void {
  let isStopping = false
  const handle = () => {
    if (isStopping) process.exit(exits.interrupted)
    isStopping = true
    process.stderr.write('carillon: stopping; once more to stop at once\n')
    stop().then(
      ({ clean }) => {
        if (!clean) process.stderr.write('carillon: some jobs were interrupted; they run again\n')
        process.exit(exits.ok)
      },
      (error: unknown) => process.exit(fail(error)),
    )
  }
  process.on('SIGINT', handle)
  process.on('SIGTERM', handle)
}
