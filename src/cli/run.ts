// A line of words as one command of the program, with what went wrong said in one place.

import { CommanderError } from 'commander'
import process from 'node:process'
import { exits } from './exits.ts'
import { fail } from './fail.ts'
import { commandFirst } from './globals.ts'
import { programFor } from './program.ts'

export async function run(given: readonly string[]): Promise<void> {
  const words = commandFirst(given)
  const [word] = words
  try {
    const program = programFor(word)
    if (word === undefined) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exits.ok : exits.usage
    } else {
      process.exitCode = fail(error)
    }
  }
}
