// `carillon token`: a token for the service of this configuration, on the standard output.

import process from 'node:process'
import type { CliCommand } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { groups } from '../spec.ts'

const examples = `Examples:
  # for a program of one tenant, for a month
  carillon token --role operator --tenant acme --ttl 30d
  # for oneself, of every tenant
  export CARILLON_TOKEN=$(carillon token --role admin --tenant '*')
`

interface Flags {
  readonly role: string
  readonly tenant: string
  readonly sub: string
  readonly ttl: string
}

export const command: CliCommand = {
  add: program => {
    const token = program
      .command('token')
      .description('make a token for the service')
      .helpGroup(groups.host)
      .addHelpText('before', examples)
      .option('--role <role>', 'viewer, operator or admin', 'viewer')
      .option('--tenant <tenant>', 'whose jobs; * for every tenant (admin only)', 'default')
      .option('--sub <name>', 'who it is for; the audit names it', 'cli')
      .option('--ttl <duration>', 'how long it is good for, such as 12h or 30d', '12h')
    addSettings(token, ['data', 'jwtIssuer', 'jwtAudience']).action(async () => {
      const { config } = await configured(token)
      const { mintFor } = await import('../../serve/token.ts')
      const { role, tenant, sub, ttl } = token.opts<Flags & Record<string, unknown>>()
      process.stdout.write(`${await mintFor(config, { role, tenant, sub, ttl })}\n`)
    })
  },
}
