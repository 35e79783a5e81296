// Which settings are accepted, how they are stored, and who may see what.

import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../runtime/clock.ts'
import { MASK } from './action.ts'
import { Outbound } from './guard/outbound.ts'
import { httpAction } from './http/action.ts'
import { Registry } from './registry.ts'

function registry(): Registry {
  const outbound = new Outbound({ clock: systemClock })
  onTestFinished(() => outbound.close())
  return new Registry().add(
    httpAction({ outbound, clock: systemClock, userAgent: 'test', secrets: () => null }),
  )
}

const URL_OK = 'https://example.com/hook'
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

describe('an action in a job body', () => {
  it('is accepted with its defaults filled in', () => {
    expect(registry().check({ kind: 'http', url: URL_OK })).toEqual({
      action: {
        kind: 'http',
        url: URL_OK,
        method: 'POST',
        headers: {},
        secrets: [],
        timeout_seconds: 30,
      },
      problems: [],
    })
  })

  it.each([
    [null, 'action'],
    ['http', 'action'],
    [{}, 'action'],
    [{ kind: 1 }, 'action'],
    [{ kind: 'shell' }, 'action.kind'],
    [{ kind: '__proto__' }, 'action.kind'],
    [{ kind: 'constructor' }, 'action.kind'],
  ])('%j is refused at %s', (given, field) => {
    const { action, problems } = registry().check(given)
    expect(action).toBeNull()
    expect(problems.map(problem => problem.field)).toEqual([field])
    expect(problems[0]!.rule).toContain('http')
  })

  it('every wrong field is named with its path, and secrets are not repeated', () => {
    const given = {
      kind: 'http',
      url: 5,
      method: 'FETCH',
      secrets: ['ok', 7],
      headers: { a: ['canary'] },
      colour: 'red',
    }
    const { problems } = registry().check(given, 'steps.0.http')
    expect(problems.map(({ field }) => field).sort()).toEqual([
      'steps.0.http.colour',
      'steps.0.http.headers.a',
      'steps.0.http.method',
      'steps.0.http.secrets.1',
      'steps.0.http.url',
    ])
    expect(JSON.stringify(problems)).not.toContain('canary')
  })

  it('is stored with its payload and read back', () => {
    const actions = registry()
    const { action } = actions.check({ kind: 'http', url: URL_OK })
    const stored = actions.specOf(action!, { a: 1 })
    expect(stored.handler).toBe('action:http')
    expect(actions.read(stored)).toEqual({ action, payload: { a: 1 } })
    expect(actions.read({ handler: 'report', payload: stored.payload })).toBeNull()
  })

  it('an edit made from what was shown keeps the secrets it could not see', () => {
    const actions = registry()
    const headers = { Authorization: 'Bearer abc', Accept: 'text/plain' }
    const { action } = actions.check({ kind: 'http', url: URL_OK, headers, secrets: [SECRET] })
    const shown = actions.shown(action!, { mayEdit: true })
    expect(shown).toMatchObject({ headers: { Authorization: MASK }, secrets: [MASK] })
    const edited = actions.withStored({ ...shown, method: 'PUT' }, action!)
    expect(actions.check(edited).action).toEqual({ ...action, method: 'PUT' })
  })

  it('has one handler per kind', () => {
    expect([...registry().handlers.keys()]).toEqual(['action:http'])
  })
})
