// What a node gets, by how it was started.

import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { SchedulerError } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import { openDatabase } from '../store/sql/sqlite/driver.ts'
import { actionHandlers, SqlitePages, type ActionOptions } from './index.ts'

function made(options: Partial<ActionOptions> = {}) {
  const actions = actionHandlers({ clock: systemClock, ...options })
  onTestFinished(() => actions.close())
  return actions
}

describe('the actions of a node', () => {
  it('are those it may and can do', () => {
    const pages = SqlitePages.open({ path: ':memory:', open: openDatabase })
    expect([...made().handlers.keys()]).toEqual(['action:http'])
    expect([...made({ pages, allowCommands: true }).handlers.keys()]).toEqual([
      'action:http',
      'action:crawl',
      'action:command',
    ])
  })

  it('are all known, so that a refusal can say why', () => {
    const { registry } = made()
    expect(registry.kinds).toEqual(['http', 'crawl', 'command'])
    const { problems } = registry.check({ kind: 'command', argv: ['ls'] })
    expect(problems.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
      'action.kind must not be command: this node was not started to allow it',
    ])
  })

  it('a crawl is checked like a webhook', () => {
    const { registry } = made({ allowHosts: 'wiki.internal' })
    const fields = (given: object) =>
      registry.check({ kind: 'crawl', ...given }).problems.map(({ field }) => field)
    expect(fields({ url: 'http://127.0.0.1/' })).toEqual(['action.url'])
    expect(fields({ url: 'http://wiki.internal/' })).toEqual([])
    expect(fields({ url: 'http://wiki.internal/', depth: -1, pages: 0, delay_ms: 0.5 })).toEqual([
      'action.depth',
      'action.pages',
      'action.delay_ms',
    ])
  })

  it('wrong entries of the allow-list are refused at start, all at once', () => {
    expect(() => made({ allowHosts: 'http://a/, b:c' })).toThrow(SchedulerError)
    expect(() => made({ allowHosts: 'http://a/, b:c' })).toThrow(/http:\/\/a\/.*b:c/)
  })

  it('further kinds can be added', () => {
    const { registry } = made()
    const given = { kind: 'pause', minutes: 5 }
    expect(registry.schema.safeParse(given).success).toBe(false)
    registry.add({
      kind: 'pause',
      isAllowed: true,
      schema: z.strictObject({ kind: z.literal('pause'), minutes: z.number() }),
      check: () => [],
      shown: settings => settings,
      perform: () => Promise.resolve(null),
    })
    expect(registry.schema.safeParse(given).success).toBe(true)
    expect(registry.check(given)).toEqual({ action: given, problems: [] })
    expect([...registry.handlers.keys()]).toContain('action:pause')
  })
})
