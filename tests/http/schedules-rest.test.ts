// Workflow schedules over HTTP: what is refused, lists, removal, who may do what (A2, A13).

import { describe, expect, it } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import { gate } from '../support/scripted.ts'
import { dailyReport, SCHEDULES, scheduleIn, startSchedules } from './schedule-parts.ts'
import { startService } from './service.ts'
import { onThreeStores } from './stores.ts'

const asleep = { works: false }
const plain = { name: 's', workflow_id: 1, interval_seconds: 60 }

describe('A2 validation', () => {
  it.each([
    [{ interval_seconds: 0 }, 'interval_seconds'],
    [{ interval_seconds: -1 }, 'interval_seconds'],
    [{ interval_seconds: 1.5 }, 'interval_seconds'],
    [{ interval_seconds: '60' }, 'interval_seconds'],
    [{ interval_seconds: 40_000_000 }, 'interval_seconds'],
    [{ interval_seconds: null }, 'interval_seconds'],
    [{ total_repeats: -1 }, 'total_repeats'],
    [{ total_repeats: null }, 'total_repeats'],
    [{ max_retries: -1 }, 'max_retries'],
    [{ max_retries: null }, 'max_retries'],
    [{ timeout_seconds: 0 }, 'timeout_seconds'],
    [{ timeout_seconds: null }, 'timeout_seconds'],
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ description: null }, 'description'],
    [{ description: 'x'.repeat(4_001) }, 'description'],
    [{ trigger_payload: 'text' }, 'trigger_payload'],
    [{ trigger_payload: { text: 'x'.repeat(70_000) } }, 'trigger_payload'],
    [{ colour: 'red' }, 'colour'],
    [{ status: 'done' }, 'status'],
    [{ current_repeat: 9 }, 'current_repeat'],
    [{ current_retry: 1 }, 'current_retry'],
    [{ run_count: 9 }, 'run_count'],
    [{ error_count: 9 }, 'error_count'],
    [{ last_error: 'x' }, 'last_error'],
    [{ next_run_at: '2026-01-05T12:00:01Z' }, 'next_run_at'],
    [{ id: 'mine' }, 'id'],
    [{ user_profile_id: 'somebody' }, 'user_profile_id'],
  ])('A2 %j is refused with 422 on create and PATCH, and changes nothing', async (more, field) => {
    const s = await startSchedules(startService, undefined, asleep)
    const refused = await s.admin.post(SCHEDULES, { ...plain, ...more })
    expect(refused.status).toBe(422)
    expect(refused.body.errors.map(error => error.field)).toEqual([field])
    expect((await s.list()).total).toBe(0)
    const made = await s.make()
    const edit = await s.admin.patch(`${SCHEDULES}${made.id}/`, more)
    expect(edit.status).toBe(422)
    expect(edit.body.errors.map(error => error.field)).toEqual([field])
    expect(await s.get(made.id)).toEqual(made)
  })

  it('A2 the workflow cannot be changed by PATCH', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const { id } = await s.make()
    const refused = await s.admin.patch(`${SCHEDULES}${id}/`, { workflow_id: 2 })
    expect(refused.status).toBe(422)
    expect(refused.body.errors.map(error => error.field)).toEqual(['workflow_id'])
  })

  it('H2 an unknown trigger node is refused and named, and another one can be chosen', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const trigger_nodes = [{ id: 'a' }, { id: 'off', active: false }]
    const steps = [{ id: 'work', handler: 'work' }]
    await s.admin.post('/api/v1/workflows', { name: 'second', trigger_nodes, steps })
    const schedule = { name: 's', workflow_id: 2, interval_seconds: 60 }
    const refused = await s.admin.post(SCHEDULES, { ...schedule, trigger_node_id: 'none' })
    const error = {
      field: 'trigger_node_id',
      value: 'none',
      rule: 'must be null or a schedule trigger of workflow 2: a, off',
    }
    expect([refused.status, refused.body.errors]).toEqual([422, [error]])
    expect((await s.list()).total).toBe(0)
    const { id } = await s.make({ workflow_id: 2, trigger_node_id: 'off' })
    const edit = (more: object) => s.admin.patch(`${SCHEDULES}${id}/`, more)
    const wrong = await edit({ trigger_node_id: 'none' })
    expect([wrong.status, wrong.body.errors]).toEqual([422, [error]])
    expect((await edit({ trigger_node_id: 'a' })).body['trigger_node_id']).toBe('a')
    expect((await edit({ trigger_node_id: null })).body['trigger_node_id']).toBeNull()
    await edit({ trigger_node_id: 'a', trigger_payload: { b: 1 } })
    // One that is gone since may be said again, so a schedule that was read can be sent back.
    await s.admin.patch('/api/v1/workflows/2', { trigger_nodes: [{ id: 'b' }] })
    const same = await edit({ trigger_node_id: 'a', trigger_payload: { b: 1 }, name: 'new' })
    expect([same.status, same.body['trigger_node_id']]).toEqual([200, 'a'])
  })

  it('H2 total_repeats that are reached end a schedule, and more of them revive it', async () => {
    const s = await startSchedules(startService)
    const { id } = await s.make()
    await s.service.advance('3m')
    expect(await s.get(id)).toMatchObject({ status: 'active', current_repeat: 3 })
    const edit = (more: object) => s.admin.patch(`${SCHEDULES}${id}/`, more)
    expect((await edit({ total_repeats: 2 })).status).toBe(200)
    await s.service.advance('1s')
    const over = { status: 'done', current_repeat: 3, run_count: 3, next_run_at: null }
    expect(await s.get(id)).toMatchObject(over)
    await s.service.advance('10m')
    expect(await s.get(id)).toMatchObject(over)
    const still = await edit({ interval_seconds: 30 })
    expect([still.status, still.body['from']]).toEqual([400, 'done'])
    expect((await edit({ total_repeats: 3 })).body).toMatchObject({ status: 'done' })
    expect((await edit({ total_repeats: 5 })).body).toMatchObject({
      status: 'active',
      next_run_at: new Date(s.service.now + 60_000).toISOString(),
    })
    await s.service.advance('10m')
    expect(await s.get(id)).toMatchObject({ status: 'done', current_repeat: 5, run_count: 5 })
    expect((await edit({ total_repeats: 0, interval_seconds: 30 })).status).toBe(200)
    await s.service.advance('1m')
    expect(await s.get(id)).toMatchObject({ status: 'active', current_repeat: 7 })
  })

  it('H2 total_repeats that are reached end a schedule that is paused, retrying or running', async () => {
    const door = gate()
    let calls = 0
    const work: Handler = async context => {
      const call = ++calls
      if (call === 2) throw new Error('no')
      if (call === 3) await door.handler(context)
    }
    const s = await startSchedules(startService, work)
    const { id } = await s.make()
    await s.service.advance('2m')
    expect(await s.get(id)).toMatchObject({ current_repeat: 1, current_retry: 1 })
    const edit = (total_repeats: number) => s.admin.patch(`${SCHEDULES}${id}/`, { total_repeats })
    await edit(1)
    await s.service.advance('10m')
    expect(await s.get(id)).toMatchObject({ status: 'done', current_repeat: 1, current_retry: 0 })
    await edit(9)
    await s.service.advance('1m')
    expect(door.inside).toHaveLength(1)
    await edit(1)
    expect(await s.get(id)).toMatchObject({ status: 'active', current_repeat: 1 })
    door.openAll()
    await s.service.advance('1m')
    expect(await s.get(id)).toMatchObject({ status: 'done', current_repeat: 2 })
    await edit(9)
    await s.post(id, 'pause')
    await edit(2)
    expect(await s.get(id)).toMatchObject({ status: 'paused', next_run_at: null })
    await s.post(id, 'resume')
    await s.service.advance('10m')
    expect(await s.get(id)).toMatchObject({ status: 'done', current_repeat: 2 })
  })

  it('A2 all problems are told at once', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const refused = await s.admin.post(SCHEDULES, { interval_seconds: 0, max_retries: -1, id: '1' })
    expect(refused.body.errors.map(error => error.field).toSorted()).toEqual([
      'id',
      'interval_seconds',
      'max_retries',
      'name',
      'workflow_id',
    ])
  })

  it('A2 the smallest values are taken', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const least = { interval_seconds: 1, total_repeats: 0, max_retries: 0, timeout_seconds: 1 }
    expect(await s.make(least)).toMatchObject(least)
  })
})

onThreeStores((store, start) => {
  it(`A2 on ${store} PATCH changes what is given, leaves the rest, takes back what it showed`, async () => {
    const s = await startSchedules(start, undefined, asleep)
    const made = await s.make({ ...dailyReport, description: 'first' })
    const path = `${SCHEDULES}${made.id}/`
    const changes = {
      name: 'Weekly report',
      description: 'second',
      total_repeats: 4,
      max_retries: 1,
      timeout_seconds: 30,
      trigger_payload: { report_type: 'weekly' },
    }
    const edited = await s.admin.patch(path, changes)
    expect(edited.status).toBe(200)
    expect(edited.body).toEqual({ ...made, ...changes })
    const same = await s.admin.patch(path, edited.body)
    expect(same.status).toBe(200)
    expect(same.body).toEqual(edited.body)
    const emptied = await s.admin.patch(path, { trigger_payload: null, description: '' })
    expect(emptied.body).toMatchObject({ trigger_payload: null, description: '' })
    expect((await s.admin.patch(path, {})).body).toEqual(emptied.body)
  })

  describe(`A13 REST on ${store}`, () => {
    it('A13 lists the newest first, with filters, limit and offset', async () => {
      const s = await startSchedules(start)
      const flow = { name: 'second', steps: [{ id: 'work', handler: 'work' }] }
      expect((await s.admin.post('/api/v1/workflows', flow)).body.id).toBe(2)
      await s.make({ name: 'done', total_repeats: 1 })
      const paused = await s.make({ name: 'paused' })
      await s.post(paused.id, 'pause')
      await s.service.advance('1m')
      await s.admin.patch('/api/v1/workflows/2', { active: false })
      await s.make({ name: 'dead', workflow_id: 2, max_retries: 0 })
      await s.service.advance('1m')
      await s.admin.patch('/api/v1/workflows/2', { active: true })
      await s.make({ name: 'active', workflow_id: 2 })
      expect(await s.list()).toEqual({ names: ['active', 'dead', 'paused', 'done'], total: 4 })
      expect(await s.list('?limit=2')).toEqual({ names: ['active', 'dead'], total: 4 })
      expect(await s.list('?limit=2&offset=3')).toEqual({ names: ['done'], total: 4 })
      for (const status of ['active', 'paused', 'done', 'dead']) {
        expect(await s.list(`?status=${status}`)).toEqual({ names: [status], total: 1 })
      }
      expect(await s.list('?workflow_id=2')).toEqual({ names: ['active', 'dead'], total: 2 })
      expect(await s.list('?workflow_id=2&status=dead')).toEqual({ names: ['dead'], total: 1 })
      expect(await s.list('?workflow_id=3')).toEqual({ names: [], total: 0 })
    })

    it('A13 the default limit is 50', async () => {
      const s = await startSchedules(start, undefined, asleep)
      for (let i = 0; i < 51; i++) await s.make({ name: `s${i}` })
      const { names, total } = await s.list()
      expect([names.length, total]).toEqual([50, 51])
    })

    it('A13 wrong-state pause and resume are refused with 400 and name the state', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make({ total_repeats: 1 })
      const early = await s.post(id, 'resume')
      expect(early.status).toBe(400)
      expect(early.body.detail).toContain('it is active')
      await s.post(id, 'pause')
      const twice = await s.post(id, 'pause')
      expect(twice.status).toBe(400)
      expect(twice.body.detail).toContain('it is paused')
      expect(twice.body).toMatchObject({ type: '/problems/invalid-transition', from: 'paused' })
      await s.post(id, 'resume')
      await s.service.advance('1m')
      for (const verb of ['pause', 'resume'] as const) {
        const late = await s.post(id, verb)
        expect([late.status, late.body['from']]).toEqual([400, 'done'])
      }
    })

    it('A13 delete is 204 and then 404; batch-delete passes over what is not there', async () => {
      const s = await startSchedules(start)
      const [one, two, three] = [await s.make(), await s.make(), await s.make()]
      expect((await s.admin.delete(`${SCHEDULES}${one.id}/`)).status).toBe(204)
      expect((await s.admin.get(`${SCHEDULES}${one.id}/`)).status).toBe(404)
      expect((await s.admin.delete(`${SCHEDULES}${one.id}/`)).status).toBe(404)
      const batch = `${SCHEDULES}batch-delete/`
      expect((await s.admin.post(batch, { schedule_ids: [] })).status).toBe(204)
      const job = await s.admin.post('/api/v1/jobs', {
        trigger: { every: '1h' },
        action: { kind: 'http', url: 'https://example.com/' },
      })
      const ids = [two.id, one.id, 'never-was', two.id, job.body.id]
      const gone = await s.admin.post(batch, { schedule_ids: ids })
      expect([gone.status, gone.text]).toEqual([204, ''])
      expect(await s.list()).toEqual({ names: ['s'], total: 1 })
      expect((await s.get(three.id)).status).toBe('active')
      expect((await s.admin.get(`/api/v1/jobs/${job.body.id}`)).status).toBe(200)
      expect((await s.admin.post(batch, { schedule_ids: 'all' })).status).toBe(422)
      expect((await s.admin.post(batch, {})).status).toBe(422)
    })
  })
})

describe('A13 who and where', () => {
  it('A13 works with and without the trailing slash', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const made = await s.admin.post('/api/v1/schedules', plain)
    expect(made.status).toBe(201)
    const { id } = made.body
    for (const path of [`/api/v1/schedules/${id}`, `/api/v1/schedules/${id}/`]) {
      expect(scheduleIn(await s.admin.get(path)).id).toBe(id)
    }
    expect((await s.admin.post(`/api/v1/schedules/${id}/pause`)).status).toBe(200)
    expect((await s.admin.get('/api/v1/schedules')).body.total).toBe(1)
    const ids = { schedule_ids: [id] }
    expect((await s.admin.post('/api/v1/schedules/batch-delete', ids)).status).toBe(204)
  })

  it('A13 without a token, or with a bad one, it is 401', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const nobody = s.service.caller()
    expect((await nobody.get(SCHEDULES)).status).toBe(401)
    expect((await nobody.post(SCHEDULES, plain)).status).toBe(401)
    const bad = s.service.caller(async () => ({ authorization: 'Bearer a.b.c' }))
    expect((await bad.get(SCHEDULES)).status).toBe(401)
  })

  it('A13 what belongs to another tenant is 404 in the same words as the unknown', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const { id } = await s.make()
    const other = s.service.as('admin', 'globex')
    expect((await other.get(SCHEDULES)).body).toEqual({ items: [], total: 0 })
    const asks = [
      (of: string) => other.get(`${SCHEDULES}${of}/`),
      (of: string) => other.patch(`${SCHEDULES}${of}/`, { name: 'mine' }),
      (of: string) => other.post(`${SCHEDULES}${of}/pause/`),
      (of: string) => other.get(`${SCHEDULES}${of}/runs/`),
      (of: string) => other.delete(`${SCHEDULES}${of}/`),
    ]
    for (const ask of asks) {
      const [foreign, unknown] = [await ask(id), await ask('never-was')]
      expect([foreign.status, unknown.status]).toEqual([404, 404])
      expect(foreign.body.detail.replace(id, '')).toBe(unknown.body.detail.replace('never-was', ''))
    }
    await other.post(`${SCHEDULES}batch-delete/`, { schedule_ids: [id] })
    expect((await s.get(id)).status).toBe('active')
    const foreign = await other.post(SCHEDULES, plain)
    expect(foreign.status).toBe(404)
    expect(foreign.body.errors[0]!.field).toBe('workflow_id')
  })

  it('a job that is no schedule is not one here', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const job = await s.admin.post('/api/v1/jobs', {
      trigger: { every: '1h' },
      action: { kind: 'http', url: 'https://example.com/' },
    })
    expect((await s.admin.get(`${SCHEDULES}${job.body.id}/`)).status).toBe(404)
    expect((await s.list()).total).toBe(0)
  })

  it('a viewer reads, an operator also pauses and resumes, an admin does all', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const { id } = await s.make()
    const statuses = async (role: 'viewer' | 'operator' | 'admin') => {
      const caller = s.service.as(role)
      return [
        (await caller.get(SCHEDULES)).status,
        (await caller.post(`${SCHEDULES}${id}/pause/`)).status,
        (await caller.post(`${SCHEDULES}${id}/resume/`)).status,
        (await caller.patch(`${SCHEDULES}${id}/`, { name: 'x' })).status,
        (await caller.post(SCHEDULES, plain)).status,
        (await caller.post(`${SCHEDULES}batch-delete/`, { schedule_ids: [] })).status,
        (await caller.delete(`${SCHEDULES}${id}/`)).status,
      ]
    }
    expect(await statuses('viewer')).toEqual([200, 403, 403, 403, 403, 403, 403])
    expect(await statuses('operator')).toEqual([200, 200, 200, 403, 403, 403, 403])
    expect(await statuses('admin')).toEqual([200, 200, 200, 200, 201, 204, 204])
  })

  it('If-Match with another revision is 412', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const { id } = await s.make()
    const path = `${SCHEDULES}${id}/`
    const { headers } = await s.admin.get(path)
    const stale = { 'if-match': '"9"' }
    expect((await s.admin.patch(path, { name: 'x' }, stale)).status).toBe(412)
    expect((await s.admin.post(`${path}pause/`, undefined, stale)).status).toBe(412)
    expect((await s.admin.delete(path, stale)).status).toBe(412)
    const known = { 'if-match': String(headers['etag']) }
    expect((await s.admin.patch(path, { name: 'x' }, known)).status).toBe(200)
  })

  it('bad JSON is 400, a bad query 422', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    expect((await s.admin.post(SCHEDULES, '{')).status).toBe(400)
    for (const query of ['status=odd', 'limit=0', 'limit=251', 'offset=-1', 'workflow_id=x']) {
      const refused = await s.admin.get(`${SCHEDULES}?${query}`)
      expect([query, refused.status]).toEqual([query, 422])
    }
  })

  it('someone who sees every tenant names the one they mean', async () => {
    const s = await startSchedules(startService, undefined, asleep)
    const root = s.service.as('admin', '*')
    expect((await root.post(SCHEDULES, plain)).status).toBe(404)
    expect((await root.post(`${SCHEDULES}?tenant=acme`, plain)).status).toBe(201)
    expect((await s.list()).total).toBe(1)
    expect((await root.get(SCHEDULES)).body.total).toBe(1)
    expect((await s.admin.post(`${SCHEDULES}?tenant=globex`, plain)).status).toBe(422)
  })
})
