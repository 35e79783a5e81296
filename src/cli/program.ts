// The program with its commands: the one that is meant, or all of them when help is wanted.

import { Command } from 'commander'
import { existsSync, readdirSync } from 'node:fs'
import process from 'node:process'
import type { CliCommand } from './command.ts'
import { groups } from './spec.ts'

const folder = new URL('./commands/', import.meta.url)
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

export async function printVersion(): Promise<void> {
  const { version } = await import('../serve/version.ts')
  process.stdout.write(`${version}\n`)
}

/** Without a word, or with one that names no file, all commands are loaded. */
export async function loadProgram(word?: string): Promise<Command> {
  const program = makeProgram()
  for (const name of filesFor(word)) {
    const { command } = (await import(new URL(name, folder).href)) as { command: CliCommand }
    command.add(program)
  }
  // Help shows the groups in the order of their first command.
  const order: readonly string[] = Object.values(groups)
  const commands = program.commands as Command[]
  commands.sort((a, b) => order.indexOf(a.helpGroup()) - order.indexOf(b.helpGroup()))
  return program
}

function makeProgram(): Command {
  const program = new Command('carillon')
    .description(
      'A durable job scheduler: every due occurrence gets exactly one recorded decision.',
    )
    .usage('<command> [options]')
    .showHelpAfterError('(see --help)')
    .helpCommand('help [command]', 'how a command is used')
    .option('-V, --version', 'print the version')
    .exitOverride()
  program
    .command('version')
    .description('print the version')
    .helpGroup(groups.host)
    .action(printVersion)
  return program
}

/** A command's file has its name; anything else may be a second name, a typo or a wish for help. */
function filesFor(word: string | undefined): string[] {
  const own = `${word}.${ending}`
  if (word !== undefined && /^[a-z]+$/.test(word) && existsSync(new URL(own, folder))) return [own]
  return readdirSync(folder)
    .filter(name => name.endsWith(`.${ending}`) && !/\.(?:test|d)\.ts$/.test(name))
    .toSorted()
}
