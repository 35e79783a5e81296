// Who may import whom, row by row.

import { describe, expect, it } from 'vitest'
import { checkLayering } from './layering.ts'
import { makeTree } from './tree.ts'

const manifest = JSON.stringify({
  dependencies: { pino: '1' },
  devDependencies: { zod: '1', tsx: '1' },
})

/** What the check says about one file that imports the given specifiers. */
const messages = (path: string, ...specifiers: string[]): string[] => {
  const text = specifiers.map(specifier => `import { x } from '${specifier}'`).join('\n')
  const files = { 'packages/carillon/package.json': manifest, [path]: text }
  return checkLayering(makeTree(files)).map(p => p.message)
}

describe('allowed imports', () => {
  it.each([
    ['src/cron/a.ts', ['./b.ts', './zone/c.ts']],
    ['src/core/a.ts', ['./b.ts', '../cron/index.ts']],
    ['src/store/port.ts', ['../core/job.ts', '../cron/index.ts']],
    ['src/store/memory/store.ts', ['../store.ts', '../../core/job.ts', './rows.ts']],
    ['src/store/sql/sqlite/a.ts', ['../store.ts', '../../store.ts', 'node:fs']],
    ['src/runtime/a.ts', ['../store/port.ts', '../core/job.ts', '../cron/index.ts', 'node:crypto']],
    ['src/engine/a.ts', ['../store/port.ts', '../core/job.ts', '../runtime/clock.ts']],
    ['src/jobs/a.ts', ['../engine/a.ts', '../runtime/clock.ts', 'node:crypto']],
    ['src/library/a.ts', ['../engine/a.ts', '../core/job.ts', '../compose.ts']],
    ['src/compose.ts', ['./store/memory/store.ts', './observe/log.ts', 'pino']],
    ['src/testing/a.ts', ['../store/memory/store.ts', '../compose.ts', '../library/job.ts']],
    ['src/index.ts', ['./library/job.ts']],
    ['src/core/a.test.ts', ['vitest', 'zod', '../store/memory/store.ts', 'node:fs']],
    ['tests/conformance/memory.test.ts', ['../../src/store/memory/store.ts']],
  ])('%s', (path, specifiers) => {
    expect(messages(path, ...specifiers)).toEqual([])
  })
})

describe('refused imports', () => {
  it.each([
    ['src/cron/a.ts', '../core/job.ts', 'cron may not import core'],
    ['src/cron/a.ts', 'node:util', 'cron may not import node:util'],
    ['src/core/a.ts', '../store/port.ts', 'core may not import port'],
    ['src/core/a.ts', '@scope/name/sub', 'core may not import @scope/name'],
    ['src/store/port.ts', './memory/store.ts', 'port may not import store/memory'],
    ['src/store/memory/store.ts', '../../engine/a.ts', 'store/memory may not import engine'],
    ['src/store/memory/store.ts', 'node:fs', 'store/memory may not import node:fs'],
    ['src/store/sql/store.ts', 'pino', 'store/sql may not import pino'],
    ['src/engine/a.ts', '../store/memory/store.ts', 'engine may not import store/memory'],
    ['src/engine/a.ts', '../compose.ts', 'engine may not import compose'],
    ['src/engine/a.ts', 'pino', 'engine may not import pino'],
    ['src/engine/a.ts', '../jobs/client.ts', 'engine may not import jobs'],
    ['src/engine/a.ts', '../watch/episodes.ts', 'engine may not import watch'],
    ['src/runtime/a.ts', '../engine/node.ts', 'runtime may not import engine'],
    ['src/library/a.ts', '../store/sql/store.ts', 'library may not import store/sql'],
    ['src/index.ts', './store/memory/store.ts', 'index may not import store/memory'],
    ['src/observe/a.ts', '../engine/a.ts', 'observe may import only types from engine'],
    [
      'src/service/use-cases/a.ts',
      '../http/b.ts',
      'src/service/use-cases/ may not import src/service/http/',
    ],
    ['src/library/a.ts', 'tsx', "tsx is not among the packages' dependencies"],
    ['src/library/a.ts', '../../tests/support/a.ts', 'src may not import tests/support/a.ts'],
    ['src/misc/a.ts', './b.ts', 'src/misc has no row in the layer table'],
  ])('%s from %s', (path, specifier, message) => {
    expect(messages(path, specifier)).toEqual([message])
  })

  it.each([
    ['src/client/a.ts', '../service/start.ts', 'client is in carillon', 'service'],
    ['src/testing/a.ts', '../demo/make.ts', 'testing is in carillon', 'demo'],
    ['src/server.ts', './cli/run.ts', 'server is in carillon', 'cli'],
  ])('code of the service: %s from %s', (path, specifier, room, target) => {
    expect(messages(path, specifier)).toEqual([
      `${room} and may not import ${target}, which is in carillon-service`,
    ])
  })

  it('one store from another', () => {
    expect(messages('src/store/sql/a.ts', '../memory/store.ts')).toEqual([
      'one store may not import another: store/sql imports store/memory',
    ])
  })
})

describe('forms of import', () => {
  it('types may pass where values may not', () => {
    const tree = makeTree({ 'src/observe/a.ts': "import type { E } from '../runtime/events.ts'" })
    expect(checkLayering(tree)).toEqual([])
  })

  it('re-exports, side effects and dynamic imports count; comments and strings do not', () => {
    const text = [
      "export * from '../engine/a.ts'",
      "import '../engine/b.ts'",
      "const c = await import('../engine/c.ts')",
      "// import d from '../engine/d.ts'",
      'const e = "import e from \'../engine/e.ts\'"',
    ]
    const problems = checkLayering(makeTree({ 'src/core/a.ts': text.join('\n') }))
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3])
  })
})
