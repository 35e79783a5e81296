// The table of roles inside SECURITY.md, between two marks.

import { summaryTable } from './tables.ts'

const BEGIN = '<!-- made by scripts/role-docs.ts -->'
const END = '<!-- end -->'

export function withSummary(page: string, document: string): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error('SECURITY.md has no marks')
  return `${before}${BEGIN}\n\n${summaryTable(document)}\n\n${END}${after}`
}
