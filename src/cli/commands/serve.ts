// `carillon serve`: the service, until it is told to stop.

import process from 'node:process'
import type { CliCommand } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { groups } from '../spec.ts'
import { stopOnSignals } from '../until-stopped.ts'

const examples = `Examples:
  # on this machine, with a store in .carillon
  carillon serve
  # with jobs to look at
  carillon serve --demo
  # for others, on a server's store
  CARILLON_JWT_SECRET=… carillon serve --host 0.0.0.0 --store postgres://db.example.com/jobs
`

export const command: CliCommand = {
  add: program => {
    const serve = program
      .command('serve')
      .description('run the service: HTTP API, and the jobs unless --no-worker')
      .helpGroup(groups.host)
      .addHelpText('before', examples)
      .option('--demo', 'load jobs with a past to look at, unless they are there')
    addSettings(serve).action(async () => {
      const { config, file } = await configured(serve)
      const { commandNotice, forgetSecrets } = await import('../../service/command-account.ts')
      forgetSecrets()
      const { startService } = await import('../../service/start.ts')
      const starting = startService(config, file?.handlers ?? {}, {
        hasDemo: serve.opts()['demo'] === true,
      })
      // A signal during the start waits for it: the node may hold jobs already.
      stopOnSignals(async () => (await starting).stop())
      const service = await starting
      say(`Carillon is at ${service.address}`)
      say(`  store    ${service.promise}`)
      say(`  jobs     ${config.worker ? `run here, ${config.slots} at once` : 'do not run here'}`)
      const commands = commandNotice(config)
      if (commands !== null) say(`  commands ${commands}`)
      say(`  API      ${service.address}/openapi.json`)
      if (service.link === null) say('  tokens   carillon token --role admin')
      else say(`  sign in  ${service.link}  (works once, for an hour)`)
    })
  },
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
