// S7: who may do what, as the pages say it, against the routes. A new route is a new row.

import { expect, test } from 'vitest'
import { openApiDocument } from '../../scripts/role-docs/document.ts'
import { withSummary } from '../../scripts/role-docs/security.ts'
import { operationsOf, rolesPage } from '../../scripts/role-docs/tables.ts'
import { readText } from './pages.ts'

test('S7: the tables of roles are what the routes say', async () => {
  // If they are not: npx tsx scripts/role-docs.ts
  const document = await openApiDocument()
  expect(operationsOf(document).length).toBeGreaterThan(100)
  expect(readText('docs/reference/roles.md')).toBe(rolesPage(document))
  const security = readText('SECURITY.md')
  expect(security).toBe(withSummary(security, document))
})
