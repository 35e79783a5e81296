// `carillon source`: sources from files, and what became of them.

import type { Command } from 'commander'
import type { Definition } from '../../move/source-files.ts'
import type { RateLimit } from '../../sources/source.ts'
import { actOnAll } from '../acting.ts'
import { addTo, exits, type CliCommand, type CommandSpec } from '../command.ts'
import type { Context } from '../context.ts'
import { whole } from '../numbers.ts'
import type { Column } from '../table.ts'
import type { SourceApi } from '../target/api.ts'
import { away } from '../times.ts'

const PAGE = 250

const tenant = { flags: '--tenant <name>', about: 'whose, for tokens of every tenant' }
const files = [['<file...>', 'YAML or JSON files, or folders of them']] as const

/** What of a source the columns show. */
interface Listed {
  readonly name: string
  readonly status: string
  readonly state: string
  readonly schedule: string
  readonly table: string
  readonly last_success_at: string | null
  readonly next_run_at: string | null
  readonly retry: { readonly retry_count: number }
  readonly execution: { readonly maxRetries: number }
}

type Flags = Readonly<Record<string, unknown>>

async function sourcesOf(context: Context): Promise<SourceApi> {
  return (await context.client({ mayCreate: true })).sources
}

/** Whose sources are meant, beside what else is asked for. */
const asked = (flags: Flags, query = {}) => ({ ...query, tenant: flags['tenant'] })

/** What was written is checked as a whole before the first of it is sent. */
async function definitionsOf(words: unknown): Promise<readonly Definition[]> {
  const { readDefinitions } = await import('../../move/source-files.ts')
  return readDefinitions(words as string[])
}

const add: CommandSpec = {
  name: 'add',
  group: 'act',
  about: 'add sources; active ones are fetched at once',
  args: files,
  flags: [tenant],
  isMutation: true,
  examples: [
    ['carillon source add rates.yaml', 'one source'],
    ['carillon source add sources/', 'every file of a folder, or none if any is wrong'],
  ],
  run: async (context, [words], flags) =>
    actOnAll(context, await definitionsOf(words), {
      nameOf: ({ name }) => name,
      would: ({ name, place }) => `add ${name} (${place})`,
      act: async ({ document }) =>
        (await sourcesOf(context)).create(document, asked(flags), { signal: context.signal }),
      told: ({ name }) => `added ${name}`,
    }),
}

const update: CommandSpec = {
  name: 'update',
  group: 'act',
  about: 'replace sources by what their files say now; the next run heeds it',
  args: files,
  flags: [tenant],
  isMutation: true,
  examples: [['carillon source update rates.yaml', 'after the file was edited']],
  run: async (context, [words], flags) =>
    actOnAll(context, await definitionsOf(words), {
      nameOf: ({ name }) => name,
      would: ({ name, place }) => `update ${name} (${place})`,
      act: async ({ name, document }) =>
        (await sourcesOf(context)).replace(name, document, asked(flags), {
          signal: context.signal,
        }),
      told: ({ name }) => `updated ${name}`,
    }),
}

const remove: CommandSpec = {
  name: 'delete',
  alias: 'rm',
  group: 'act',
  about: 'delete sources with their retry state; rows stay unless --rows',
  args: [['<name...>', 'names of sources']],
  flags: [tenant, { flags: '--rows', about: 'delete what they put into their tables too' }],
  isMutation: true,
  examples: [['carillon source delete rates --rows', 'the source and what it fetched']],
  run: async (context, [words], flags) => {
    const rows = flags['rows'] === true
    const what = rows ? 'and its rows' : 'but not its rows'
    return actOnAll(context, words as string[], {
      nameOf: name => name,
      would: name => `delete ${name}, ${what}`,
      question: names => `Delete ${names.join(', ')}, ${what}?`,
      act: async name => {
        await (
          await sourcesOf(context)
        ).remove(name, asked(flags, { rows }), { signal: context.signal })
        return { name, deleted: true, rows }
      },
      told: name => `deleted ${name}`,
    })
  },
}

const at = (text: string | null, now: number) => (text === null ? '-' : away(Date.parse(text), now))

const columnsAt = (now: number): readonly Column<Listed>[] => [
  { key: 'name', title: 'NAME', value: ({ name }) => name, min: 10 },
  { key: 'status', title: 'STATUS', value: ({ status }) => status, drop: 3 },
  { key: 'state', title: 'STATE', value: ({ state }) => state },
  { key: 'schedule', title: 'SCHEDULE', value: ({ schedule }) => schedule, drop: 2 },
  { key: 'table', title: 'TABLE', value: ({ table }) => table, drop: 1 },
  { key: 'last', title: 'LAST SUCCESS', value: one => at(one.last_success_at, now) },
  { key: 'next', title: 'NEXT', value: one => at(one.next_run_at, now) },
  {
    key: 'failures',
    title: 'FAILURES',
    value: ({ retry, execution }) => `${retry.retry_count}/${execution.maxRetries}`,
    isRight: true,
    drop: 1,
  },
]

const list: CommandSpec = {
  name: 'list',
  alias: 'ls',
  group: 'look',
  about: 'the sources, when they last succeeded and when they run next',
  flags: [
    tenant,
    { flags: '--limit <n>', about: 'how many (default 50)', parse: whole(1, PAGE) },
    { flags: '--cursor <text>', about: 'goes on where a page ended' },
  ],
  isTable: true,
  examples: [['carillon source list', 'all of them']],
  run: async (context, _words, flags) => {
    const query = { limit: flags['limit'] ?? 50, cursor: flags['cursor'] }
    const page = await (
      await sourcesOf(context)
    ).list<Listed>(asked(flags, query), { signal: context.signal })
    if (context.globals.json) context.json(page)
    else context.rows(columnsAt(context.now()), page.items)
    if (page.next_cursor !== null) context.say(`more: --cursor ${page.next_cursor}`)
    return exits.ok
  },
}

const get: CommandSpec = {
  name: 'get',
  group: 'look',
  about: 'one source as YAML, with what the service knows of it',
  args: [['<name>', 'the name of a source']],
  flags: [tenant],
  examples: [['carillon source get rates', 'its definition, last success and retries']],
  run: async (context, [name], flags) => {
    const sources = await sourcesOf(context)
    const source = await sources.get<Listed>(name as string, asked(flags), {
      signal: context.signal,
    })
    const { stringify } = await import('yaml')
    context.show(source, () => stringify(source))
    return exits.ok
  },
}

const limit: CommandSpec = {
  name: 'limit',
  group: 'act',
  about: 'at most so many requests to a domain in any such span of time',
  args: [
    ['<domain>', 'a host; those below it are meant too'],
    ['<requests>', 'how many'],
    ['<period>', 'such as 1m, 1h or 1d'],
  ],
  flags: [tenant],
  isMutation: true,
  examples: [['carillon source limit api.example.com 100 1h', 'a hundred in an hour']],
  run: async (context, [domain, requests, period], flags) => {
    const body = { limit: Number(requests), period }
    return actOnAll(context, [domain as string], {
      nameOf: name => name,
      would: name => `limit ${name} to ${body.limit} requests in ${String(period)}`,
      act: async name =>
        (await sourcesOf(context)).setLimit(name, body, asked(flags), { signal: context.signal }),
      told: name => `limited ${name} to ${body.limit} requests in ${String(period)}`,
    })
  },
}

const limitColumns: readonly Column<RateLimit>[] = [
  { key: 'domain', title: 'DOMAIN', value: ({ domain }) => domain, min: 10 },
  { key: 'limit', title: 'REQUESTS', value: one => String(one.limit), isRight: true },
  { key: 'period', title: 'IN', value: ({ period }) => period },
]

const limits: CommandSpec = {
  name: 'limits',
  group: 'look',
  about: 'the rate limits by domain',
  flags: [tenant, { flags: '--cursor <text>', about: 'goes on where a page ended' }],
  isTable: true,
  examples: [['carillon source limits', 'all of them']],
  run: async (context, _words, flags) => {
    const query = { limit: PAGE, cursor: flags['cursor'] }
    const sources = await sourcesOf(context)
    const page = await sources.listLimits<RateLimit>(asked(flags, query), {
      signal: context.signal,
    })
    if (context.globals.json) context.json(page)
    else context.rows(limitColumns, page.items)
    if (page.next_cursor !== null) context.say(`more: --cursor ${page.next_cursor}`)
    return exits.ok
  },
}

const unlimit: CommandSpec = {
  name: 'unlimit',
  group: 'act',
  about: 'lift the rate limit of domains',
  args: [['<domain...>', 'as they were limited']],
  flags: [tenant],
  isMutation: true,
  examples: [['carillon source unlimit api.example.com', 'no limit any more']],
  run: async (context, [words], flags) =>
    actOnAll(context, words as string[], {
      nameOf: name => name,
      would: name => `lift the limit of ${name}`,
      act: async domain => {
        await (
          await sourcesOf(context)
        ).removeLimit(domain, asked(flags), { signal: context.signal })
        return { domain, lifted: true }
      },
      told: name => `lifted the limit of ${name}`,
    }),
}

export const command: CliCommand = {
  add: (program: Command) => {
    const source = program.command('source').description('fetch from sources into tables')
    for (const spec of [add, update, remove, list, get, limit, limits, unlimit]) {
      addTo(source, spec)
    }
  },
}
