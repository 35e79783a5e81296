// Writes docs/reference/roles.md and the table in SECURITY.md from the routes themselves; with
// --check it only says whether they are as they should be.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from './role-docs/document.ts'
import { withSummary } from './role-docs/security.ts'
import { rolesPage } from './role-docs/tables.ts'

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const document = await openApiDocument()
const roles = pathOf('docs/reference/roles.md')
const security = pathOf('SECURITY.md')
const held = readFileSync(security, 'utf8')
const pages = [
  [roles, rolesPage(document)],
  [security, withSummary(held, document)],
] as const

for (const [path, text] of pages) {
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is not what the routes say: npx tsx scripts/role-docs.ts`)
    process.exitCode = 1
  }
}
