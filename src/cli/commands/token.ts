// `carillon token`: a token for the service of this configuration, on the standard output; who is
// signed in; ending tokens and sessions before their time.

import process from 'node:process'
import { actOnAll } from '../acting.ts'
import { addTo, type CliCommand, type CommandSpec } from '../command.ts'
import { addSettings, configured } from '../configured.ts'
import { groups } from '../spec.ts'
import type { Column } from '../table.ts'
import type { Revoked, SessionPage } from '../target/api.ts'

const PAGE = 250

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

const revoke: CommandSpec = {
  name: 'revoke',
  group: 'host',
  about: 'end tokens or sessions before their time',
  args: [['<token...>', 'tokens, their jti, or ids of sessions; - reads one from standard input']],
  isMutation: true,
  examples: [
    ['carillon token revoke - < leaked.txt', 'a token that others may have seen'],
    ['carillon token revoke 0b9e6a5c-7d5e-4c39-a6a7-0a6a5d0d5f3e', 'by its jti'],
  ],
  notes: 'Nodes that have just seen a token may accept it for 5 s more. Sessions end at once.',
  run: async (context, [given]) => {
    const { readText } = await import('../payload.ts')
    const tokens = (given as string[]).map(one => (one === '-' ? readText('-').trim() : one))
    return actOnAll(context, tokens, {
      nameOf: nameOf,
      would: token => `revoke ${nameOf(token)}`,
      act: async token => {
        const { sessions } = await context.client()
        return sessions.revoke(token, { signal: context.signal })
      },
      told: (_token, revoked) => {
        const { kind, id } = revoked as Revoked
        return kind === 'session' ? `ended session ${id}` : `revoked token ${id}`
      },
    })
  },
}

/** A token itself is never printed. */
function nameOf(token: string): string {
  return token.includes('.') ? 'a token' : token
}

type ListedSession = SessionPage['sessions'][number]

const columns: readonly Column<ListedSession>[] = [
  { key: 'id', title: 'SESSION', value: ({ id }) => id, min: 40 },
  { key: 'sub', title: 'WHO', value: ({ sub }) => sub },
  { key: 'tenant', title: 'TENANT', value: ({ tenant }) => tenant },
  { key: 'role', title: 'ROLE', value: ({ role }) => role, drop: 1 },
  { key: 'ip', title: 'FROM', value: ({ ip }) => ip ?? '-', drop: 2 },
  { key: 'expires', title: 'UNTIL', value: one => one.expires_at, drop: 3 },
]

const sessions: CommandSpec = {
  name: 'sessions',
  group: 'host',
  about: 'list who is signed in',
  flags: [{ flags: '--cursor <text>', about: 'goes on where a page ended' }],
  isTable: true,
  examples: [['carillon token sessions', 'browsers that are signed in']],
  run: async (context, _words, flags) => {
    const client = await context.client()
    const query = { limit: PAGE, cursor: flags['cursor'] }
    const list = await client.sessions.list(query, { signal: context.signal })
    if (context.globals.json) context.json(list)
    else context.rows(columns, list.sessions)
    if (list.next_cursor !== null) context.say(`more: --cursor ${list.next_cursor}`)
  },
}

export const command: CliCommand = {
  add: program => {
    const token = program
      .command('token')
      .description('make a token for the service')
      .enablePositionalOptions()
      .helpGroup(groups.host)
      .addHelpText('before', examples)
      .option('--role <role>', 'viewer, operator or admin', 'viewer')
      .option('--tenant <tenant>', 'whose jobs; * for every tenant (admin only)', 'default')
      .option('--sub <name>', 'who it is for; the audit names it', 'cli')
      .option('--ttl <duration>', 'how long it is good for, such as 12h or 30d', '12h')
    addSettings(token, ['data', 'jwtIssuer', 'jwtAudience']).action(async () => {
      const { config } = await configured(token)
      const { mintFor } = await import('../../service/auth/mint.ts')
      const { role, tenant, sub, ttl } = token.opts<Flags & Record<string, unknown>>()
      process.stdout.write(`${await mintFor(config, { role, tenant, sub, ttl })}\n`)
    })
    addTo(token, revoke)
    addTo(token, sessions)
  },
}
