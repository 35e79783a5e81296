// The page that lists everything that can stop a job is complete: it is compared with the code.

import { expect, test } from 'vitest'
import { storeTroubleCodes } from '../../src/core/alerts/store-trouble.ts'
import { names, page, readText, tableUnder } from './pages.ts'

const { text } = page('docs/reference/what-can-stop-a-job.md')

/** The first cells of a table, each a list of names in code marks. */
const listed = (heading: string) =>
  tableUnder(text, heading)
    .flatMap(([first]) => names(first!))
    .sort()

/** The members of a union of texts, as it is written in the source. */
function union(path: string, type: string): string[] {
  const body = new RegExp(`export type ${type} =([\\s\\S]*?)\\n\\n`).exec(readText(path))![1]!
  return [...body.matchAll(/\| '([a-z_]+)'/g)].map(match => match[1]!).sort()
}

test('every reason for which a job ends is listed, with a way back', () => {
  expect(listed('Ways a job ends')).toEqual(union('src/core/job.ts', 'EndReason'))
})

test('every reason for which a firing is skipped is listed', () => {
  const heading = 'Ways a single firing is skipped'
  expect(listed(heading)).toEqual(union('src/core/history/ledger.ts', 'SkipReason'))
})

test('every trouble of a node is listed', () => {
  const sources = ['src/engine/clock-epochs.ts', 'src/core/alerts/store-trouble.ts'].map(path =>
    readText(path),
  )
  const codes = sources.flatMap(source =>
    [...source.matchAll(/(?:_CODE|CLAIMS_LATE|OUTCOMES_TROUBLE) = '([a-z_]+)'/g)].map(
      match => match[1]!,
    ),
  )
  const all = [...new Set([...codes, ...storeTroubleCodes])].sort()
  expect(listed('Trouble of a node or its store')).toEqual(all)
})

test('no cell of the tables is empty', () => {
  for (const heading of [
    'Ways a job ends',
    'Ways a job waits',
    'Ways a single firing is skipped',
  ]) {
    for (const row of tableUnder(text, heading)) expect(row.every(cell => cell !== '')).toBe(true)
  }
})
