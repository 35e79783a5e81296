// Writes docs/reference/cli.md from the commands themselves; with --check it only says whether the
// page is as it should be.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cliPage } from './cli-docs/page.ts'

const path = fileURLToPath(new URL('../docs/reference/cli.md', import.meta.url))
const page = await cliPage()

if (!process.argv.includes('--check')) writeFileSync(path, page)
else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/reference/cli.md is not what the commands say: npx tsx scripts/cli-docs.ts')
  process.exitCode = 1
}
