// N3: what a run got stays known after its job got another payload, and is what runs again.

import { describe, expect, it } from 'vitest'
import type { Role } from '../../src/service/auth/principal.ts'
import { site } from '../actions/site.ts'
import { eventually } from '../support/servers/wait.ts'
import { startService, type Caller } from './service.ts'
import { onThreeStores } from './stores.ts'

const hourly = { name: 'report', handler: 'work', trigger: { every: '1h' }, payload: { n: 1 } }

async function make(caller: Caller, body: object): Promise<string> {
  const made = await caller.post('/api/v1/jobs', body)
  expect(made.status).toBe(201)
  return made.body.id
}

onThreeStores((store, start) => {
  describe(`payloads of runs on ${store}`, () => {
    it('N3 a past run of the schedule shows and repeats what it got', async () => {
      const given: unknown[] = []
      const s = await start({ handlers: { work: context => void given.push(context.payload) } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      expect((await s.as().patch(`/api/v1/jobs/${id}`, { payload: { n: 2 } })).status).toBe(200)
      await s.advance('1h')
      const runs = await Promise.all([1, 2].map(n => s.as('viewer').get(`/api/v1/runs/${id}.${n}`)))
      expect(runs.map(({ body }) => body)).toMatchObject([
        { payload: { n: 1 }, payload_of: 'job', payload_revision: 1 },
        { payload: { n: 2 }, payload_of: 'job', payload_revision: 2 },
      ])
      const path = `/api/v1/runs/${id}.1`
      const retried = await s.as('operator').post(`${path}/retry`)
      const replayed = await s.as('operator').post(`${path}/replay`, {})
      expect([retried.status, replayed.status]).toEqual([202, 202])
      await s.advance('1s')
      expect(given).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }, { n: 1 }])
    })

    it('N3 a retry by hand that waits keeps its payload when the job is edited', async () => {
      const given: unknown[] = []
      let end = () => {}
      const held = new Promise<void>(resolve => (end = resolve))
      const work = async ({ payload }: { readonly payload: unknown }) => {
        given.push(payload)
        if (given.length === 2) await held
      }
      const s = await start({ handlers: { work } })
      const id = await make(s.as(), hourly)
      await s.advance('2h')
      const asked = await s.as('operator').post(`/api/v1/runs/${id}.1/retry`)
      await s.as().patch(`/api/v1/jobs/${id}`, { payload: { n: 2 } })
      const running = await s.as().get(`/api/v1/runs/${id}.2`)
      expect(running.body).toMatchObject({ status: 'running', payload: { n: 1 } })
      expect(running.body['executions']).toMatchObject([{ payload_revision: 1 }])
      end()
      await s.advance('1s')
      expect(given).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
      const { body } = await s.as().get(`/api/v1/runs/${asked.body.run_id}`)
      expect(body).toMatchObject({ payload: { n: 1 }, payload_of: 'run', retry_of: `${id}.1` })
    })

    it('N3 an automatic retry gets what the job has by then, and both are shown', async () => {
      const given: unknown[] = []
      const work = ({ payload }: { readonly payload: unknown }) => {
        given.push(payload)
        if (given.length === 1) throw new Error('once more')
      }
      const s = await start({ handlers: { work } })
      const id = await make(s.as(), { ...hourly, max_retries: 3 })
      await s.advance('1h')
      await s.as().patch(`/api/v1/jobs/${id}`, { payload: { n: 2 } })
      await s.advance('30m')
      expect(given).toEqual([{ n: 1 }, { n: 2 }])
      const { body } = await s.as('viewer').get(`/api/v1/runs/${id}.1`)
      expect(body['payload']).toEqual({ n: 2 })
      expect(body['payloads']).toEqual([
        { attempt: 1, payload: { n: 1 }, payload_of: 'job', payload_revision: 1 },
        { attempt: 2, payload: { n: 2 }, payload_of: 'job', payload_revision: 2 },
      ])
      expect(body['executions']).toMatchObject([{ payload_revision: 1 }, { payload_revision: 2 }])
    })

    it('N3 what is no longer kept is said, and does not run again with something else', async () => {
      const s = await start({ handlers: { work: () => null } })
      const retention = { attempts: 10, age_seconds: 60, payloads: false }
      const id = await make(s.as(), { ...hourly, retention })
      await s.advance('1h')
      await s.as().patch(`/api/v1/jobs/${id}`, { payload: { n: 2 } })
      const path = `/api/v1/runs/${id}.1`
      const gone = { payload: null, payload_of: null, payload_revision: 1 }
      expect((await s.as().get(path)).body).toMatchObject(gone)
      for (const verb of ['retry', 'replay']) {
        const refused = await s.as('operator').post(`${path}/${verb}`, {})
        expect(refused.status).toBe(409)
        expect(refused.body.detail).toContain('from revision 1 of the job, is no longer kept')
      }
      const replayed = await s.as('operator').post(`${path}/replay`, { payload: { n: 3 } })
      expect(replayed.status).toBe(202)
    })
  })
})

it.each<Role>(['viewer', 'operator', 'admin'])(
  'N3 S2 a %s sees what a run of an action worked on before an edit, and none of its settings',
  async role => {
    const web = await site((_, response) => response.end('ok'))
    const s = await startService({ allowHosts: [`127.0.0.1:${web.port}`] })
    const action = (key: string) => ({
      kind: 'http',
      url: `${web.origin}/hook?key=${key}`,
      headers: { authorization: `Bearer ${key}` },
    })
    const body = { name: 'hook', trigger: { every: '1h' }, payload: { n: 1 } }
    const id = await make(s.as('admin'), { ...body, action: action('OLDCANARY') })
    expect((await s.as('operator').post(`/api/v1/jobs/${id}/run`, {})).status).toBe(202)
    const settled = async (count: number) => {
      await eventually(`run ${count}`, async () => {
        await s.advance('1s')
        const run = await s.as('admin').get(`/api/v1/runs/${id}.${count}`)
        return run.body.status === 'completed' ? true : undefined
      })
    }
    await settled(1)
    const edit = { payload: { n: 2 }, action: action('NEWCANARY') }
    expect((await s.as('admin').patch(`/api/v1/jobs/${id}`, edit)).status).toBe(200)
    const shown = await s.as(role).get(`/api/v1/runs/${id}.1`)
    expect(shown.body).toMatchObject({ payload: { n: 1 }, payload_of: 'job' })
    expect(shown.text).not.toMatch(/CANARY/)
    const retried = await s.as(role).post(`/api/v1/runs/${id}.1/retry`)
    expect(retried.status).toBe(role === 'viewer' ? 403 : 202)
    if (role === 'viewer') return
    await settled(2)
    expect(web.asked.at(-1)).toMatchObject({ path: '/hook?key=NEWCANARY', body: '{"n":1}' })
  },
)
