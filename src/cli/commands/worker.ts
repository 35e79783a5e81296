// `carillon worker`: a node without HTTP, until it is told to stop.

import process from 'node:process'
import type { OptionName } from '../../service/config/options.ts'
import type { CliCommand } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { groups } from '../spec.ts'
import { stopOnSignals } from '../until-stopped.ts'

const settings: readonly OptionName[] = [
  'store',
  'data',
  'slots',
  'queues',
  'nodeId',
  'allowHosts',
  'dns',
  'allowCommands',
  'commandUser',
  'dataDb',
  'checkIntervalMs',
  'lockDurationMs',
  'staleLockCheckMs',
  'drainMs',
  'logLevel',
]

const examples = `Examples:
  # one more node on the store of a service
  carillon worker --store postgres://db.example.com/jobs --slots 20
  # only for some queues
  carillon worker --queues mail,crawl:5
`

export const command: CliCommand = {
  add: program => {
    const worker = program
      .command('worker')
      .description('run jobs of a store, without HTTP')
      .helpGroup(groups.host)
      .addHelpText('before', examples)
    addSettings(worker, settings).action(async () => {
      const { config, file } = await configured(worker)
      const { startWorker } = await import('../../service/worker.ts')
      const { commandNotice, forgetSecrets } = await import('../../service/command-account.ts')
      forgetSecrets()
      const starting = startWorker(config, file?.handlers ?? {})
      stopOnSignals(async () => (await starting).stop())
      const node = await starting
      process.stdout.write(`node     ${node.nodeId}, ${config.slots} jobs at once\n`)
      process.stdout.write(`store    ${node.promise}\n`)
      const commands = commandNotice(config)
      if (commands !== null) process.stdout.write(`commands ${commands}\n`)
      process.stdout.write(`handlers ${node.handlers.join(', ')}\n`)
    })
  },
}
