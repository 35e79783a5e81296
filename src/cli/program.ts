// The program with its commands: the one that is meant, or all of them when help is wanted.

import { Command } from 'commander'
import { commands } from './commands.ts'
import { groups } from './spec.ts'

export function programFor(word?: string): Command {
  const program = makeProgram()
  for (const name of needed(word)) commands[name]!.add(program, programFor)
  // Help shows the groups in the order of their first command.
  const order: readonly string[] = Object.values(groups)
  const added = program.commands as Command[]
  added.sort((a, b) => order.indexOf(a.helpGroup()) - order.indexOf(b.helpGroup()))
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
    .action(async () => (await import('./version.ts')).printVersion())
  return program
}

/** Anything that names no command may be a second name, a typo or a wish for help. */
function needed(word: string | undefined): readonly string[] {
  if (word === 'version') return []
  return word !== undefined && Object.hasOwn(commands, word) ? [word] : Object.keys(commands)
}
