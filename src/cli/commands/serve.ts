// `carillon serve`: the service, until it is told to stop.

import process from 'node:process'
import { exits, type CliCommand } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { fail } from '../fail.ts'

export const command: CliCommand = {
  add: program => {
    const serve = program
      .command('serve')
      .description('run the service: HTTP API, and the jobs unless --no-worker')
    addSettings(serve).action(async () => {
      const { config, file } = await configured(serve)
      const { startService } = await import('../../serve/start.ts')
      const service = await startService(config, file?.handlers ?? {})
      say(`Carillon is at ${service.address}`)
      say(`  store    ${service.promise}`)
      say(`  jobs     ${config.worker ? `run here, ${config.slots} at once` : 'do not run here'}`)
      say(`  API      ${service.address}/openapi.json`)
      if (service.link === null) say('  tokens   carillon token --role admin')
      else say(`  sign in  ${service.link}  (works once, for an hour)`)
      stopOnSignals(() => service.stop())
    })
  },
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The first signal drains, the second one does not wait. */
function stopOnSignals(stop: () => Promise<{ readonly clean: boolean }>): void {
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
