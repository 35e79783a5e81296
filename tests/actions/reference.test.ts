// The page of the actions lists every setting there is.

import { expect, test } from 'vitest'
import { commandSettings } from '../../src/actions/command/settings.ts'
import { crawlSettings } from '../../src/actions/crawl/settings.ts'
import { httpSettings } from '../../src/actions/http/settings.ts'
import { names, page, tableUnder } from '../docs/pages.ts'

test.each([
  ['http', httpSettings],
  ['crawl', crawlSettings],
  ['command', commandSettings],
] as const)('the table of %s has one row per field', (kind, schema) => {
  const rows = tableUnder(page('docs/reference/actions.md').text, kind)
  expect(rows.flatMap(([cell]) => names(cell!)).sort()).toEqual(Object.keys(schema.shape).sort())
})
