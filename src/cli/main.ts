#!/usr/bin/env node
// The `carillon` program: finds its commands, runs one, and says what went wrong in one place.

import { Command, CommanderError } from 'commander'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import type { CliCommand } from './command.ts'
import { exits } from './command.ts'
import { fail } from './fail.ts'

const program = new Command('carillon')
  .description('A durable job scheduler: every due occurrence gets exactly one recorded decision.')
  .showHelpAfterError('(see --help)')
  .exitOverride()

const folder = new URL('./commands/', import.meta.url)
const files = readdirSync(folder)
  .filter(name => /^[^.]+\.(?:js|ts)$/.test(name))
  .toSorted()

for (const name of files) {
  const { command } = (await import(new URL(name, folder).href)) as { command: CliCommand }
  command.add(program)
}

program
  .command('version')
  .description('print the version')
  .action(async () => {
    const { version } = await import('../serve/version.ts')
    process.stdout.write(`${version}\n`)
  })

try {
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exits.ok : exits.usage
  } else {
    process.exitCode = fail(error)
  }
}
