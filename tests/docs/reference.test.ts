import { expect, test } from 'vitest'
import * as library from '../../src/index.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import { TestScheduler } from '../../src/testing/scheduler.ts'
import { names, page, readText, tableUnder } from './pages.ts'

/** The names a table describes: everything in backticks in its first column, calls without arguments. */
function described(path: string, heading: string): string[] {
  return tableUnder(page(path).text, heading)
    .flatMap(([cell]) => names(cell!))
    .map(name => name.replace(/\(.*$/, ''))
    .sort()
}

function methods(of: object): string[] {
  const all = Object.getOwnPropertyNames(of)
  return all.filter(name => name !== 'constructor').sort()
}

/** The texts a pattern finds, each once. */
function found(path: string, pattern: RegExp): string[] {
  return [...new Set([...readText(path).matchAll(pattern)].map(match => match[1]!))].sort()
}

test('the page of the library lists every value it exports', () => {
  expect(described('docs/reference/library.md', 'Values')).toEqual(Object.keys(library).sort())
})

test('the page of the library lists every member of the scheduler', () => {
  const added = ['add']
  const members = found('src/library/scheduler.ts', /^ {2}(?:async |get )?(\w+)(?:<[^(]*)?\(/gm)
  const known = members.filter(name => name !== 'constructor' && !added.includes(name))
  expect(described('docs/reference/library.md', 'Scheduler')).toEqual(known)
})

test('the page of the library lists every member of jobs, runs, workflows and sources', () => {
  for (const name of ['jobs', 'runs', 'workflows', 'sources']) {
    const path = `src/library/${name}-api.ts`
    const members = found(path, /^ {2}(?:async )?\*?(\w+)(?:<[^(]*)?\(/gm)
    const known = members.filter(member => member !== 'constructor')
    expect(described('docs/reference/library.md', `scheduler.${name}`)).toEqual(known)
  }
})

test('the page of the library lists the whole context of a handler', () => {
  const body = /interface RunContext \{\n([\s\S]*?)\n\}/.exec(
    readText('src/library/context.ts'),
  )![1]!
  const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(match => match[1]!)
  expect(described('docs/reference/library.md', "The handler's context")).toEqual(members.sort())
})

test('the page of the library lists every member of the test kit', () => {
  const inner = ['begin', 'during']
  const members = methods(TestScheduler.prototype).filter(name => !inner.includes(name))
  const expected = [...members, 'VirtualClock', 'createTestScheduler'].sort()
  expect(described('docs/reference/library.md', 'carillon/testing')).toEqual(expected)
})

test('the page of the store port lists every method', () => {
  const body = /interface Store \{\n([\s\S]*?)\n\}/.exec(readText('src/store/port.ts'))![1]!
  const members = [...body.matchAll(/^ {2}(\w+)\??\(/gm)].map(match => match[1]!).sort()
  expect(described('docs/reference/store-port.md', 'Methods')).toEqual(members)
  const ofStore = methods(MemoryStore.prototype).filter(name => name !== 'open')
  expect(members).toEqual(ofStore.sort())
})

test('the page of the store port lists every method of maintenance, of which there are few', () => {
  const { maintenance } = new MemoryStore(() => 0)
  const members = Object.keys(maintenance).filter(name => name !== 'latest')
  expect(described('docs/reference/store-port.md', 'Maintenance')).toEqual(members.sort())
  expect(members.length).toBeLessThanOrEqual(10)
})

test('the page of events lists every type, skip reason and log line', () => {
  const path = 'docs/reference/events.md'
  const types = found('src/library/events.ts', /readonly type: '([\w.]+)'/g)
  expect(described(path, 'Events')).toEqual(types)
  const reasons = /type SkipReason =([\s\S]*?)\n\n/.exec(
    readText('src/core/history/ledger.ts'),
  )![1]!
  const all = [...reasons.matchAll(/'(\w+)'/g)].map(match => match[1]!)
  expect(described(path, 'Reasons of skipped firings')).toEqual(all.sort())
  const lines = found('src/observe/log.ts', /, '([a-z][a-z :]+)'\)/g)
  expect(described(path, 'Log lines')).toEqual(lines)
})
