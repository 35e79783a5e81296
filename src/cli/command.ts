// What a command of the `carillon` program is. Each lives in a file of its own in `commands`, named
// like the command, and has a line in `commands.ts`.

import { Option, type Command } from 'commander'
import { addGlobals } from './globals.ts'
import { runCommand } from './run-command.ts'
import { groups, type CommandSpec, type FlagSpec, type Words } from './spec.ts'

export { exits } from './exits.ts'
export type { CommandSpec, FlagSpec, Flags, Words } from './spec.ts'

export interface CliCommand {
  /** Adds itself to the program. What it needs is loaded when it runs, so that others start fast. */
  readonly add: (program: Command, programFor: () => Command) => void
}

export function define(spec: CommandSpec): CliCommand {
  return { add: program => void addTo(program, spec) }
}

/** Also for a command below another, such as `config check`. */
export function addTo(parent: Command, spec: CommandSpec): Command {
  const command = parent
    .command(spec.name, spec.isHidden ? { hidden: true } : {})
    .description(spec.about)
    .helpGroup(groups[spec.group])
    .addHelpText('before', examplesOf(spec))
  if (spec.alias !== undefined) command.alias(spec.alias)
  for (const [name, about] of spec.args ?? []) command.argument(name, about)
  for (const flag of spec.flags ?? []) command.addOption(optionOf(flag))
  addGlobals(command, spec)
  if (spec.notes !== undefined) command.addHelpText('after', `\n${spec.notes}`)
  command.action(async (...given: unknown[]) => {
    const words = given.slice(0, (spec.args ?? []).length) as unknown as Words
    await runCommand(command, spec, words)
  })
  return command
}

function optionOf({ flags, about, default: value, choices, parse }: FlagSpec): Option {
  const option = new Option(flags, about)
  if (value !== undefined) option.default(value)
  if (choices !== undefined) option.choices([...choices])
  if (parse !== undefined) option.argParser(parse as (text: string) => unknown)
  return option
}

function examplesOf({ examples }: CommandSpec): string {
  const lines = examples.map(([line, about]) => `  # ${about}\n  ${line}`)
  return examples.length === 0 ? '' : `Examples:\n${lines.join('\n')}\n`
}
