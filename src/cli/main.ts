#!/usr/bin/env node
// The `carillon` program: runs one command and says what went wrong in one place. Only what is asked
// for is loaded.

import process from 'node:process'
import { exits } from './exits.ts'

// Whoever read us has seen enough, as `head` does: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exits.ok)
  throw error
})

const words = process.argv.slice(2)

if (words[0] === '-V' || words[0] === '--version') {
  const { printVersion } = await import('./version.ts')
  await printVersion()
} else {
  const { run } = await import('./run.ts')
  await run(words)
}
