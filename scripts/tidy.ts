// Checks what compiler and linter cannot see: layers, sizes, words, docs. Usage: tidy [--json]

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatProblem, runChecks } from './tidy/checks.ts'
import { readTree } from './tidy/tree.ts'

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
const tree = readTree(fileURLToPath(new URL('..', import.meta.url)))
const problems = runChecks(tree)
const errors = problems.filter(({ level }) => level === 'error').length
const warnings = problems.length - errors

if (values.json) {
  console.log(JSON.stringify({ files: tree.size, errors, warnings, problems }, null, 2))
} else {
  for (const problem of problems) console.log(formatProblem(problem))
  console.log(`tidy: ${tree.size} files, ${errors} problems, ${warnings} warnings`)
}
process.exitCode = errors > 0 ? 1 : 0
