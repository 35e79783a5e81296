// `carillon complete`: what could come next on a line; asked by the shells' scripts.

import type { Command } from 'commander'
import { addTo, exits, type CliCommand } from '../command.ts'
import type { Context } from '../context.ts'

/** A shell does not wait for a store that is slow. */
const BUDGET_MS = 1_000
const NAMES_MAX = 250

const values: Readonly<Record<string, () => readonly string[]>> = {
  '--tz': () => ['local', 'job', 'utc', ...Intl.supportedValuesOf('timeZone')],
  '--status': () => [
    'pending',
    'scheduled',
    'running',
    'paused',
    'completed',
    'failed',
    'cancelled',
  ],
}

export const command: CliCommand = {
  add: (program, programFor) =>
    void addTo(program, {
      name: 'complete',
      group: 'host',
      about: 'what could come next on a line',
      args: [['[words...]', 'the words so far; the last one is being typed']],
      isHidden: true,
      examples: [],
      run: async (context, [words]) => {
        const typed = (words ?? []) as string[]
        const last = typed.at(-1) ?? ''
        const all = await candidates(context, programFor(), typed)
        for (const one of all.filter(word => word.startsWith(last))) context.print(one)
        return exits.ok
      },
    }),
}

async function candidates(
  context: Context,
  program: Command,
  typed: readonly string[],
): Promise<readonly string[]> {
  const before = typed.slice(0, -1)
  const last = typed.at(-1) ?? ''
  const [name] = before
  if (name === undefined) return namesOf(program)
  const parent = find(program, name)
  if (parent === undefined) return []
  const below = before[1] === undefined ? undefined : find(parent, before[1])
  const meant = below ?? parent
  if (meant.commands.length > 0) return namesOf(meant)
  const flag = before.at(-1)!
  const choices = meant.options.find(option => option.long === flag)?.argChoices
  if (choices !== undefined) return choices
  if (values[flag] !== undefined) return values[flag]()
  if (last.startsWith('-')) return meant.options.flatMap(({ long }) => long ?? [])
  const [argument] = meant.registeredArguments
  return argument !== undefined && /job|run/.test(argument.name()) ? jobNames(context, last) : []
}

function find(parent: Command, name: string): Command | undefined {
  return parent.commands.find(one => one.name() === name || one.aliases().includes(name))
}

function namesOf(parent: Command): string[] {
  return parent.commands.map(one => one.name()).filter(name => name !== 'complete')
}

/** Names that begin like it; none when the target does not answer in time. */
async function jobNames(context: Context, begun: string): Promise<readonly string[]> {
  try {
    const client = await context.client()
    const query = { limit: NAMES_MAX, ...(begun === '' ? {} : { search: begun }) }
    const { jobs } = await client.jobs.list(query, { timeoutMs: BUDGET_MS })
    return [...new Set(jobs.map(({ name }) => name))]
  } catch {
    return []
  }
}
