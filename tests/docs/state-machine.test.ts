import { expect, test } from 'vitest'
import { transitions } from '../../src/core/control/status.ts'
import { names, page, readText, tableUnder } from './pages.ts'

const { text, blocks } = page('docs/state-machine.md')

test('the table of transitions is the one in the code', () => {
  const rows = tableUnder(text, 'Transitions').map(([from, to]) => [names(from!)[0]!, names(to!)])
  expect(Object.fromEntries(rows)).toEqual(transitions)
})

test('the diagram draws every transition and no other', () => {
  const drawn = [...blocks[0]!.code.matchAll(/^ *(\w+) --> (\w+)/gm)].map(
    match => `${match[1]} ${match[2]}`,
  )
  const allowed = Object.entries(transitions).flatMap(([from, all]) =>
    all.map(to => `${from} ${to}`),
  )
  expect(drawn.sort()).toEqual(allowed.sort())
})

test('every status is explained', () => {
  const explained = tableUnder(text, 'What the words mean').map(([cell]) => names(cell!)[0])
  expect(explained).toEqual(Object.keys(transitions))
})

test('every reason a job can end with is explained', () => {
  const source = /type EndReason =([^;]+?)\n\n/.exec(readText('src/core/job.ts'))![1]!
  const reasons = [...source.matchAll(/'(\w+)'/g)].map(match => match[1]!)
  const explained = tableUnder(text, 'Why a job ended').map(([cell]) => names(cell!)[0]!)
  expect(explained.sort()).toEqual(reasons.sort())
})
