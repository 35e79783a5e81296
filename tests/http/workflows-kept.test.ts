// Workflows over HTTP: kept, checked, and who may see and change them (A15).

import { describe, expect, it } from 'vitest'
import { ok } from '../support/scripted.ts'
import { Schedules, WORKFLOWS } from './schedule-parts.ts'
import { startService, type ServiceOptions } from './service.ts'
import { onEachStore, type Start } from './stores.ts'

const only = [{ id: 'work', handler: 'work' }]

async function started(start: Start, options: ServiceOptions = {}): Promise<Schedules> {
  return new Schedules(await start(options))
}

onEachStore((store, start) => {
  describe(`workflows kept on ${store}`, () => {
    it('are made, read, changed and removed', async () => {
      const s = await started(start, { works: false })
      const body = {
        id: 7,
        name: 'flow',
        active: true,
        trigger_nodes: [{ id: 'node', kind: 'schedule', priority: 2, active: true }],
        steps: [
          { id: 'a', needs: [], handler: 'work', input: { day: 1 } },
          {
            id: 'b',
            needs: ['a'],
            http: { url: 'https://example.com/hook', headers: { 'x-key': 'k-1234567' } },
          },
        ],
      }
      const made = await s.admin.post('/api/v1/workflows', body)
      expect(made.status).toBe(201)
      expect(made.headers['location']).toBe('/api/v1/workflows/7')
      expect(made.headers['etag']).toBe('"1"')
      const { steps: given, ...rest } = body
      expect(made.body).toMatchObject({ ...rest, revision: 1 })
      const steps = made.body['steps'] as { readonly http: object }[]
      expect(steps[0]).toEqual(given[0])
      expect(steps[1]!.http).toMatchObject({ headers: { 'x-key': '***' } })
      expect((await s.admin.get(`${WORKFLOWS}7/`)).body).toEqual(made.body)
      const edited = await s.admin.patch(`${WORKFLOWS}7`, { active: false })
      expect(edited.body).toMatchObject({ name: 'flow', active: false, revision: 2 })
      // What was shown may be sent back: masked secrets stay what they are.
      const same = await s.admin.put(`${WORKFLOWS}7`, edited.body)
      expect(same.body).toEqual(edited.body)
      const stored = await s.service.engine.store.listRecords(
        'workflow/acme',
        { limit: 1 },
        s.service.now,
      )
      expect(JSON.stringify(stored.items)).toContain('k-1234567')
      const next = await s.admin.post('/api/v1/workflows', { name: 'next', steps: only })
      expect(next.body.id).toBe(8)
      const { body: list } = await s.admin.get(WORKFLOWS)
      expect((list['items'] as { id: number }[]).map(({ id }) => id)).toEqual([8, 7])
      expect((await s.admin.delete(`${WORKFLOWS}7`)).status).toBe(204)
      expect((await s.admin.get(`${WORKFLOWS}7`)).status).toBe(404)
      expect((await s.admin.delete(`${WORKFLOWS}7`)).status).toBe(404)
      const again = await s.admin.post('/api/v1/workflows', { name: 'after', steps: only })
      expect(again.body.id).toBe(9)
    })
  })
})

describe('workflows that are not right', () => {
  it('are refused with 422, all problems at once, in the words of the body', async () => {
    const s = await started(startService, { works: false })
    const refused = await s.admin.post(WORKFLOWS, {
      name: '',
      trigger_nodes: [{ id: 'a', kind: 'webhook' }],
      steps: [
        { id: 'a', handler: 'work', needs: ['b'] },
        { id: 'b', handler: 'work', needs: ['a', 'c'] },
        { id: 'd', http: { url: 'http://127.0.0.1/' } },
      ],
      colour: 'red',
    })
    expect(refused.status).toBe(422)
    expect(refused.body.type).toBe('/problems/invalid-request')
    const fields = refused.body.errors.map(error => error.field)
    for (const field of ['name', 'trigger_nodes.0.kind', 'steps.1.needs.1', 'colour']) {
      expect(fields).toContain(field)
    }
    expect(fields.some(field => field.startsWith('steps.2.http'))).toBe(true)
    expect((await s.admin.get(WORKFLOWS)).body['items']).toEqual([])
  })

  it.each(['5', '"text"', '[]', 'null', ''])('a body of %j is refused', async body => {
    const s = await started(startService, { works: false })
    await s.admin.post(WORKFLOWS, { name: 'one', steps: only })
    for (const answer of [
      await s.admin.post(WORKFLOWS, body),
      await s.admin.patch(`${WORKFLOWS}1`, body),
    ]) {
      expect([answer.status, answer.body.errors[0]!.field]).toEqual([422, 'body'])
    }
  })

  it('is 409 when the id is taken, 412 when it has changed since', async () => {
    const s = await started(startService, { works: false })
    await s.admin.post(WORKFLOWS, { id: 1, name: 'one', steps: only })
    const taken = await s.admin.post(WORKFLOWS, { id: 1, name: 'two', steps: only })
    expect([taken.status, taken.body.type]).toEqual([409, '/problems/exists'])
    const stale = { 'if-match': '"4"' }
    expect((await s.admin.patch(`${WORKFLOWS}1`, { name: 'x' }, stale)).status).toBe(412)
    expect((await s.admin.delete(`${WORKFLOWS}1`, stale)).status).toBe(412)
    const known = { 'if-match': '"1"' }
    expect((await s.admin.patch(`${WORKFLOWS}1`, { name: 'x' }, known)).status).toBe(200)
    const fixed = await s.admin.patch(`${WORKFLOWS}1`, { revision: 9 })
    expect([fixed.status, fixed.body.errors[0]!.field]).toEqual([422, 'revision'])
  })

  it('and an id that cannot be one is 422, an unknown one 404', async () => {
    const s = await started(startService, { works: false })
    expect((await s.admin.patch(`${WORKFLOWS}x`, { name: 'a' })).status).toBe(422)
    expect((await s.admin.get(`${WORKFLOWS}0`)).status).toBe(422)
    expect((await s.admin.get(`${WORKFLOWS}3`)).status).toBe(404)
    expect((await s.admin.get(`${WORKFLOWS}3/runs`)).status).toBe(404)
    expect((await s.admin.post(`${WORKFLOWS}3/run`)).status).toBe(404)
    expect((await s.admin.get(`${WORKFLOWS}3/runs/odd`)).status).toBe(404)
  })
})

describe('who may see and change workflows', () => {
  it('only their tenant', async () => {
    const s = await started(startService, { handlers: { work: ok } })
    await s.admin.post(WORKFLOWS, { name: 'one', steps: only })
    const asked = await s.admin.post(`${WORKFLOWS}1/run`)
    await s.service.advance('1s')
    const path = `${WORKFLOWS}1/runs/${asked.body.run_id}`
    expect((await s.admin.get(path)).status).toBe(200)
    const other = s.service.as('admin', 'globex')
    expect((await other.get(`${WORKFLOWS}1`)).status).toBe(404)
    await other.post(WORKFLOWS, { name: 'theirs', steps: only })
    expect((await other.get(path)).status).toBe(404)
    expect((await other.get(`${WORKFLOWS}1/runs`)).body['items']).toEqual([])
    expect((await other.get(`${WORKFLOWS}1?tenant=acme`)).status).toBe(422)
    const root = s.service.as('admin', '*')
    expect((await root.get(`${WORKFLOWS}1?tenant=acme`)).body).toMatchObject({ name: 'one' })
  })

  it('by their role, and each change is in the audit', async () => {
    const s = await started(startService, { works: false })
    const body = { name: 'one', steps: only }
    expect((await s.service.as('operator').post(WORKFLOWS, body)).status).toBe(403)
    await s.admin.post(WORKFLOWS, body)
    expect((await s.service.as('viewer').get(`${WORKFLOWS}1`)).status).toBe(200)
    expect((await s.service.as('viewer').post(`${WORKFLOWS}1/run`)).status).toBe(403)
    await s.admin.patch(`${WORKFLOWS}1`, { name: 'two' })
    await s.admin.delete(`${WORKFLOWS}1`)
    const { store } = s.service.engine
    const { items } = await store.listRecords('audit:acme', { limit: 50 }, s.service.now)
    const done = items
      .map(({ value }) => value as { action: string; object: string; actor: string })
      .filter(({ action }) => action.startsWith('workflow.'))
    expect(done.map(({ action, object, actor }) => [action, object, actor])).toEqual(
      ['create', 'edit', 'remove'].map(verb => [`workflow.${verb}`, 'workflow 1', 'admin@acme']),
    )
  })

  it('a POST repeated with its Idempotency-Key makes one workflow', async () => {
    const s = await started(startService, { works: false })
    const key = { 'idempotency-key': 'flow-1' }
    const body = { name: 'one', steps: only }
    const answers = await Promise.all([
      s.admin.post(WORKFLOWS, body, key),
      s.admin.post(WORKFLOWS, body, key),
    ])
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0)
    const again = await s.admin.post(WORKFLOWS, body, key)
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect((await s.admin.get(WORKFLOWS)).body['items']).toHaveLength(1)
    const other = await s.admin.post(WORKFLOWS, { ...body, name: 'two' }, key)
    expect([other.status, other.body.type]).toEqual([422, '/problems/idempotency-key-reused'])
    // A refusal uses no key up.
    const second = { 'idempotency-key': 'flow-2' }
    expect((await s.admin.post(WORKFLOWS, { name: 'x' }, second)).status).toBe(422)
    expect((await s.admin.post(WORKFLOWS, body, second)).status).toBe(201)
  })
})
