import { expect, test } from 'vitest'
import { bannedWords } from '../../scripts/tidy/rules.ts'
import { allPages, page, prose, tableUnder } from './pages.ts'

const { text } = page('docs/glossary.md')
const rows = ['Jobs and time', 'Running', 'Sharing and place'].flatMap(heading =>
  tableUnder(text, heading),
)
const words = rows.map(([word]) => word!)
const avoided = new Map(
  rows.flatMap(([word, , not]) => not!.split(', ').map(other => [other, word!] as const)),
)

test('no word is explained twice', () => {
  expect(words.filter((word, i) => words.indexOf(word) !== i)).toEqual([])
})

test('every word the checks refuse is in the glossary, beside the one to use', () => {
  for (const [word, instead] of Object.entries(bannedWords)) {
    expect([word, [...avoided.keys()].includes(word)]).toEqual([word, true])
    const use = rows.filter(([, , not]) => not!.split(', ').includes(word)).map(([first]) => first!)
    const allowed = instead.split(' or ')
    expect(use.every(first => allowed.some(one => first.startsWith(one)))).toBe(true)
  }
})

test('the pages keep to the words', () => {
  // Words with another meaning in plain English or in code are left out.
  const free = ['sched']
  const strict = Object.keys(bannedWords).filter(word => !free.includes(word))
  const pattern = new RegExp(`\\b(?:${strict.join('|')})s?\\b`, 'i')
  // The words of other systems appear only where their users meet us: at the HTTP edge, in what is
  // made from it, and where they come from elsewhere.
  const isEdge = (path: string) =>
    /reference\/(?:http|client|cli|sources)/.test(path) ||
    /how-to\/(?:workflow-schedules|run-the-service|interval-jobs|migrate-from|import-a)/.test(path)
  const faults = allPages()
    .filter(({ path }) => path !== 'docs/glossary.md' && !isEdge(path))
    .flatMap(({ path, text: body }) =>
      prose(body)
        .split('\n')
        // A CronJob with capitals is what Kubernetes calls its own.
        .map(line => line.replaceAll(/CronJobs?/g, ''))
        .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1} ${line}`] : [])),
    )
  expect(faults).toEqual([])
})

test('no page promises to execute exactly once', () => {
  const claim = /exactly[- ]once/i
  const faults = allPages().filter(({ text: body }) =>
    body.split('\n').some(line => claim.test(line) && !/\bnot\b|never/.test(line)),
  )
  expect(faults.map(({ path }) => path)).toEqual([])
})
