// Provides what the tests need, as `npm test` does first: for those who call vitest themselves.
// Usage: npm run provide [-- --only conformance,dashboard]

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { provide } from '../tests/support/servers/provide.ts'
import { presentSuites, programsOf, selectSuites } from './suites/select.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { only } = parseArgs({ options: { only: { type: 'string' } } }).values
const kinds = programsOf(selectSuites(presentSuites(root), only))
const missing = await provide(kinds)
for (const reason of missing.values()) console.log(reason)
if (missing.size === 0) console.log(`Ready: ${kinds.join(', ')}`)
process.exitCode = missing.size === 0 ? 0 : 1
