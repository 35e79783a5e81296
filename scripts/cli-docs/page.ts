// The reference of the command line, made from the commands: usage, examples, arguments and flags.

import type { Command, Option } from 'commander'
import { exits } from '../../src/cli/exits.ts'
import { programFor } from '../../src/cli/program.ts'
import { groups } from '../../src/cli/spec.ts'

const EVERYWHERE = 'Everywhere:'

const meanings: Readonly<Record<keyof typeof exits, string>> = {
  ok: 'done',
  failed: 'failed; also: the run that was waited for failed, or the answer to a question was no',
  usage: 'wrong usage, or not valid',
  notFound: 'there is no such job or run',
  auth: 'no valid token, or one that does not suffice',
  state: 'the state does not allow it, or it has changed since',
  unreachable: 'the store or the service cannot be reached',
  timedOut: '`--timeout` has passed, or no answer came in time',
  partly: 'some of several worked',
  interrupted: 'interrupted',
}

const intro = `# Command line

Made from the commands by \`npx tsx scripts/cli-docs.ts\`; \`carillon <command> -h\` says the same.

## What is acted on

The first that is given: \`--server\` or \`--store\`; \`CARILLON_SERVER\` or \`CARILLON_STORE\`; \`server\` or
\`store\` in \`carillon.config.*\`; the store in the data folder. On one level a service wins over a store. On
a store the commands do what the service would, in their own process, and run no jobs.

A token for a service comes from \`--token-file\`, \`CARILLON_TOKEN\`, \`CARILLON_TOKEN_FILE\`, or from
\`tokenFile\` or \`token\` in the configuration; never from a flag, which process lists show. The file must
be readable by its owner only.

## Output

Data goes to the standard output, everything else to the standard error. \`--json\` prints the resources of
the [HTTP API](http.md): one document, or one line each when following. \`--plain\` prints rows separated by
tabs. On a terminal tables are cut to its width; elsewhere nothing is.
`

export async function cliPage(): Promise<string> {
  const program = programFor()
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter(command => command.name() !== 'help')
  const parts = [intro, codes(), everywhere(commands)]
  for (const group of Object.values(groups)) {
    const members = commands.filter(command => groupOf(command) === group)
    parts.push(`## ${group.replace(':', '')}\n`)
    for (const command of members) parts.push(...sections(command, ''))
  }
  return `${parts.join('\n').trimEnd()}\n`
}

function groupOf(command: Command): string {
  const named = command.helpGroup()
  return (Object.values(groups) as string[]).includes(named) ? named : groups.host
}

function codes(): string {
  const rows = Object.entries(exits).map(
    ([name, code]) => `| ${code} | ${meanings[name as keyof typeof exits]} |`,
  )
  return ['## Exit codes', '', '| Code | Meaning |', '|---|---|', ...rows, ''].join('\n')
}

function everywhere(commands: readonly Command[]): string {
  const found = new Map<string, Option>()
  for (const command of commands) {
    for (const option of command.options) {
      if (option.helpGroupHeading === EVERYWHERE) found.set(option.flags, option)
    }
  }
  const about = 'Each command takes those that make sense for it.'
  return ['## Flags of many commands', '', about, '', ...flagTable([...found.values()]), ''].join(
    '\n',
  )
}

function sections(command: Command, parent: string): string[] {
  const name = `${parent}${command.name()}`
  const below = command.commands.flatMap(one => sections(one, `${name} `))
  // One that does something itself has flags of its own.
  if (below.length > 0 && command.options.length === 0) return below
  const [second] = command.aliases()
  const alias = second === undefined ? '' : ` Also \`${second}\`.`
  const args = command.registeredArguments.map(argument => {
    const named = argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
    return `| \`${named}\` | ${cell(argument.description)} |`
  })
  const own = command.options.filter(option => option.helpGroupHeading !== EVERYWHERE)
  return [
    `### carillon ${name}`,
    '',
    `${sentence(command.description())}${alias}`,
    '',
    ...examplesOf(command),
    ...(args.length === 0 ? [] : ['| Argument | |', '|---|---|', ...args, '']),
    ...(own.length === 0 ? [] : [...flagTable(own), '']),
    ...below,
  ]
}

function flagTable(options: readonly Option[]): string[] {
  const rows = options.map(({ flags, description, argChoices }) => {
    const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`
    return `| \`${cell(flags)}\` | ${cell(description)}${choices} |`
  })
  return ['| Flag | |', '|---|---|', ...rows]
}

/** What the help begins with. */
function examplesOf(command: Command): string[] {
  let text = ''
  command.configureOutput({ writeOut: part => (text += part) })
  command.outputHelp()
  const found = /^Examples:\n([\s\S]*?)\n\n?Usage:/.exec(text)
  if (found === null) return []
  const lines = found[1]!
    .trimEnd()
    .split('\n')
    .map(line => line.replace(/^ {2}/, ''))
  return ['```sh', ...lines, '```', '']
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
