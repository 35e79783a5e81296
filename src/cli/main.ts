#!/usr/bin/env node
// The `carillon` program: runs one command and says what went wrong in one place.

import { CommanderError } from 'commander'
import process from 'node:process'
import { exits } from './exits.ts'
import { fail } from './fail.ts'
import { commandFirst } from './globals.ts'
import { loadProgram, printVersion } from './program.ts'

const words = commandFirst(process.argv.slice(2))
const [word] = words

// Whoever read us has seen enough, as `head` does: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exits.ok)
  throw error
})

try {
  if (word === '-V' || word === '--version') {
    await printVersion()
  } else {
    const program = await loadProgram(word)
    if (word === undefined) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
  }
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exits.ok : exits.usage
  } else {
    process.exitCode = fail(error)
  }
}
