// What a workflow must look like: everything wrong with one is told at once.

import { describe, expect, onTestFinished, test } from 'vitest'
import { Outbound } from '../actions/guard/outbound.ts'
import { httpAction } from '../actions/http/action.ts'
import { Registry } from '../actions/registry.ts'
import { systemClock } from '../runtime/clock.ts'
import { checkWorkflow } from './check.ts'

function check(given: unknown) {
  const outbound = new Outbound({ clock: systemClock })
  onTestFinished(() => outbound.close())
  const http = httpAction({ outbound, clock: systemClock, userAgent: 'test', secrets: () => null })
  return checkWorkflow(given, new Registry().add(http))
}

const fields = (given: unknown) => check(given).problems.map(({ field }) => field)
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `s${i}`, handler: 'x' }))
const steps = (...list: object[]) => ({ name: 'w', steps: list })

test('defaults are filled in', () => {
  const { spec, problems } = check({ name: 'w', steps: [{ id: 'a', handler: 'x' }] })
  expect(problems).toEqual([])
  expect(spec).toEqual({
    id: null,
    name: 'w',
    active: true,
    entries: [{ id: 'schedule-1', kind: 'schedule', priority: 3, active: true }],
    steps: [{ id: 'a', needs: [], handler: 'x' }],
  })
})

test('entries without an id get a free one', () => {
  const entries = [{ priority: 1 }, { id: 'schedule-1' }, {}]
  const { spec } = check({ ...steps({ id: 'a', handler: 'x' }), entries })
  expect(spec!.entries.map(({ id }) => id)).toEqual(['schedule-2', 'schedule-1', 'schedule-3'])
})

test('a call gets the defaults of the http action', () => {
  const { spec } = check(steps({ id: 'a', http: { url: 'https://example.com/' }, input: 1 }))
  expect(spec!.steps[0]).toMatchObject({
    http: { kind: 'http', method: 'POST', timeout_seconds: 30 },
    input: 1,
  })
})

describe('what is refused, and where', () => {
  const ok = { id: 'a', handler: 'x' }
  test.each<[string, unknown, string[]]>([
    ['not an object', 'w', ['workflow']],
    ['a list', [], ['workflow']],
    ['nothing in it', {}, ['name', 'steps']],
    ['no steps', steps(), ['steps']],
    ['too many steps', steps(...many(101)), ['steps']],
    ['an unknown field', { ...steps(ok), colour: 'red' }, ['colour']],
    ['control characters', { ...steps(ok), name: 'a\nb' }, ['name']],
    ['an id of the wrong kind', { ...steps(ok), id: '1' }, ['id']],
    ['an id below one', { ...steps(ok), id: 0 }, ['id']],
    ['a step that is none', steps(ok, 5 as never), ['steps.1']],
    ['a step id with a dot', steps({ ...ok, id: 'a.b' }), ['steps.0.id']],
    ['the same id twice', steps(ok, ok), ['steps.1.id']],
    [
      'the same entry twice',
      { ...steps(ok), entries: [{ id: 'e' }, { id: 'e' }] },
      ['entries.1.id'],
    ],
    ['another kind of entry', { ...steps(ok), entries: [{ kind: 'web' }] }, ['entries.0.kind']],
    ['a need nobody has', steps({ ...ok, needs: ['b'] }), ['steps.0.needs.0']],
    ['a cycle', steps({ ...ok, needs: ['a'] }), ['steps.0.needs']],
    ['neither handler nor http', steps({ id: 'a' }), ['steps.0']],
    ['both', steps({ ...ok, http: { url: 'https://example.com' } }), ['steps.0']],
    ['the handler of an action', steps({ id: 'a', handler: 'action:http' }), ['steps.0.handler']],
    [
      'an internal address',
      steps({ id: 'a', http: { url: 'http://10.0.0.1/' } }),
      ['steps.0.http.url'],
    ],
    ['another action', steps({ id: 'a', http: { kind: 'crawl' } }), ['steps.0.http.kind']],
    ['a call that is none', steps({ id: 'a', http: 'x' }), ['steps.0.http']],
    [
      'input for a call without a body',
      steps({ id: 'a', http: { url: 'https://example.com/', method: 'GET' }, input: {} }),
      ['steps.0.input'],
    ],
    [
      'input beside a body',
      steps({ id: 'a', http: { url: 'https://example.com/', body: 'x' }, input: {} }),
      ['steps.0.input'],
    ],
    [
      'a reference to a step it does not need',
      steps(ok, { id: 'b', handler: 'x', input: { y: { $from: 'steps.a' } } }),
      ['steps.1.input.y.$from'],
    ],
    [
      'a reference to something else',
      steps({ ...ok, input: { $from: 'env.SECRET' } }),
      ['steps.0.input.$from'],
    ],
  ])('%s', (_, given, expected) => {
    const { spec } = check(given)
    expect(spec).toBeNull()
    expect(fields(given)).toEqual(expected)
  })

  test('all of it at once, also when the shape is wrong', () => {
    const given = {
      name: '',
      steps: [
        { id: 'a', handler: 'x', needs: ['b'] },
        { id: 'b', needs: ['a', 'c'] },
        { id: 'b', http: { url: 'ftp://x', method: 'NO' } },
      ],
    }
    expect(fields(given).sort()).toEqual([
      'name',
      'steps.0.needs',
      'steps.1',
      'steps.1.needs.1',
      'steps.2.http.method',
      'steps.2.id',
    ])
    const cycle = check(given).problems.find(({ field }) => field === 'steps.0.needs')
    expect(cycle!.rule).toContain('a needs b needs a')
  })

  test('one that is too deep or too large is refused before it is walked', () => {
    let deep: unknown = 1
    for (let i = 0; i < 20_000; i++) deep = [deep]
    expect(check(steps({ ...ok, input: deep })).problems[0]!.rule).toContain('levels deep')
    const large = 'x'.repeat(70_000)
    expect(check(steps({ ...ok, input: large })).problems[0]!.rule).toContain('bytes as JSON')
  })

  test('a step may refer to what it needs through another', () => {
    const chain = [
      ok,
      { id: 'b', handler: 'x', needs: ['a'] },
      { id: 'c', handler: 'x', needs: ['b'], input: { $from: 'steps.a.items' } },
    ]
    expect(check(steps(...chain)).problems).toEqual([])
  })
})
