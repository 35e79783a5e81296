// `carillon dev`: everything in one process on this machine, to try things out; without tokens unless
// it runs commands.

import process from 'node:process'
import type { CliCommand } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { usage } from '../problem.ts'
import { groups } from '../spec.ts'
import { stopOnSignals } from '../until-stopped.ts'

const NONE = 'none of your own: carillon.config.mjs may bring some'
const OPEN = 'no token needed on this machine'
const CLOSED = 'token: carillon token --role admin'

const examples = `Examples:
  # scheduler, API and dashboard on port 8060
  carillon dev
  # beside another one
  carillon dev --port 0 --data /tmp/try
`

export const command: CliCommand = {
  add: program => {
    const dev = program
      .command('dev')
      .description(
        'scheduler, API and dashboard on this machine, without tokens unless --allow-commands',
      )
      .helpGroup(groups.host)
      .addHelpText('before', examples)
      .option('--demo', 'load jobs with a past to look at, unless they are there')
    addSettings(dev).action(async () => {
      const { config, file } = await configured(dev)
      const { isLoopbackHost } = await import('../../service/config/config.ts')
      if (!isLoopbackHost(config.host)) {
        throw usage(
          `carillon dev is for this machine, not for ${config.host}`,
          'use carillon serve',
        )
      }
      const { startService } = await import('../../service/start.ts')
      const isLogged = dev.getOptionValueSource('logLevel') === 'cli'
      const quiet = isLogged ? config : { ...config, logLevel: 'warn' as const }
      const handlers = file?.handlers ?? {}
      const { commandNotice, forgetSecrets } = await import('../../service/command-account.ts')
      forgetSecrets()
      // Other accounts of this machine can ask too: what runs commands asks who they are.
      const isOpen = config.allowCommands === false
      const starting = startService(quiet, handlers, {
        isOpen,
        hasLink: !isOpen,
        hasDemo: dev.opts()['demo'] === true,
      })
      stopOnSignals(async () => (await starting).stop())
      const service = await starting
      const own = Object.keys(handlers)
      const commands = commandNotice(config)
      process.stdout.write(
        [
          `Dashboard   ${service.address}/`,
          `API         ${service.address}/api/v1  (${isOpen ? OPEN : CLOSED})`,
          ...(service.link === null
            ? []
            : [`sign in     ${service.link}  (works once, for an hour)`]),
          ...(commands === null ? [] : [`commands    ${commands}`]),
          `store       ${service.promise}`,
          `handlers    ${own.length === 0 ? NONE : own.join(', ')}`,
          'try         carillon add hello --every 30s --http https://example.com --method GET',
          '            carillon top',
          '',
        ].join('\n'),
      )
    })
  },
}
