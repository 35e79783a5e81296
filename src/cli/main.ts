#!/usr/bin/env node
// The `carillon` program. It loads nothing but what is asked for: not even the `process` of
// node:process, which reads every property of it, the standard streams included.

import '../node-version.ts'
import module from 'node:module'

// Where Node can keep compiled code between starts, it does: from version 22.8 on.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()

// Whoever read us has seen enough, as `head` does: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const words = process.argv.slice(2)

if (words[0] === '-V' || words[0] === '--version') {
  const { printVersion } = await import('./version.ts')
  printVersion()
} else {
  const { run } = await import('./run.ts')
  await run(words)
}
