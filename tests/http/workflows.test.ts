// Workflows over HTTP: kept, run by schedules and by hand, seen with their steps (A9, A15).

import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { gate, ok } from '../support/scripted.ts'
import { Schedules, WORKFLOWS, type WorkflowRun } from './schedule-parts.ts'
import type { Answered, ServiceOptions } from './service.ts'
import { onEachStore, type Start } from './stores.ts'

const only = [{ id: 'work', handler: 'work' }]

function runIn(answer: Answered): WorkflowRun {
  return answer.body as unknown as WorkflowRun
}

function runsIn(answer: Answered): readonly WorkflowRun[] {
  return answer.body['items'] as WorkflowRun[]
}

async function started(start: Start, options: ServiceOptions = {}): Promise<Schedules> {
  return new Schedules(await start(options))
}

onEachStore((store, start) => {
  describe(`A9 dispatch on ${store}`, () => {
    it('A9 the event has the schedule, the repeat, the payload and its moment', async () => {
      const events: Json[] = []
      const work: Handler = ({ payload }) => void events.push(payload)
      const s = await started(start, { handlers: { work } })
      const steps = [{ id: 'work', handler: 'work', input: { $from: 'event' } }]
      await s.admin.post(WORKFLOWS, { name: 'flow', steps })
      const given = await s.make({ name: 'Daily', trigger_payload: { report_type: 'daily' } })
      await s.service.advance('2m')
      const event = {
        scheduled_job_id: given.id,
        scheduled_job_name: 'Daily',
        repeat_number: 0,
        payload: { report_type: 'daily' },
        timestamp: '2026-01-05T12:01:00.000Z',
      }
      const second = { repeat_number: 1, timestamp: '2026-01-05T12:02:00.000Z' }
      expect(events).toEqual([event, { ...event, ...second }])
      const bare = await s.make()
      await s.service.advance('1m')
      expect(events).toContainEqual(
        expect.objectContaining({ scheduled_job_id: bare.id, payload: {} }),
      )
    })

    it('A9 the named node takes it, else the active one of the highest priority', async () => {
      const s = await started(start, { handlers: { work: ok } })
      const trigger_nodes = [
        { id: 'low', priority: 1 },
        { id: 'high', priority: 5 },
        { id: 'off', priority: 9, active: false },
      ]
      await s.admin.post(WORKFLOWS, { name: 'flow', trigger_nodes, steps: only })
      const [plain, named] = [await s.make(), await s.make({ trigger_node_id: 'low' })]
      await s.service.advance('1m')
      expect((await s.runs(plain.id))[0]).toMatchObject({ trigger_node_id: 'high' })
      expect((await s.runs(named.id))[0]).toMatchObject({ trigger_node_id: 'low' })
    })

    it('A9 without a node to take it, it is a failure that names the schedule', async () => {
      const s = await started(start, { handlers: { work: ok } })
      const trigger_nodes = [{ id: 'x' }, { id: 'y' }]
      await s.admin.post(WORKFLOWS, { name: 'flow', trigger_nodes, steps: only })
      const [none, gone] = [await s.make({ trigger_node_id: 'x' }), await s.make()]
      await s.admin.patch(`${WORKFLOWS}1`, { trigger_nodes: [{ id: 'y' }] })
      await s.service.advance('1m')
      const failed = await s.get(none.id)
      expect(failed).toMatchObject({ status: 'active', error_count: 1, current_retry: 1 })
      expect(failed.last_error).toContain(`schedule s (${none.id})`)
      expect(failed.last_error).toContain('no active schedule trigger x')
      expect((await s.runs(none.id))[0]).toMatchObject({ id: `sched-${none.id}-n0-rc0` })
      expect((await s.admin.delete(`${WORKFLOWS}1`)).status).toBe(204)
      await s.service.advance('1m')
      expect((await s.get(gone.id)).last_error).toContain('workflow 1 does not exist')
    })
  })

  describe(`A15 workflows on ${store}`, () => {
    it('A15 a schedule runs its steps in order, and the run is seen with them', async () => {
      const done: string[] = []
      const step = (name: string, output: Json): Handler => {
        return () => {
          done.push(name)
          return output
        }
      }
      const s = await started(start, {
        handlers: {
          load: step('load', { rows: [1, 2] }),
          check: step('check', true),
          send: step('send', 'sent'),
        },
      })
      const made = await s.admin.post(WORKFLOWS, {
        name: 'Report',
        steps: [
          { id: 'send', needs: ['load', 'check'], handler: 'send' },
          { id: 'check', needs: ['load'], handler: 'check', input: { $from: 'steps.load.rows' } },
          { id: 'load', handler: 'load' },
        ],
      })
      expect([made.status, made.body.id]).toEqual([201, 1])
      const { id } = await s.make()
      await s.service.advance('1m')
      expect(done).toEqual(['load', 'check', 'send'])
      const [run] = runsIn(await s.admin.get(`${WORKFLOWS}1/runs`))
      expect(run).toMatchObject({
        id: `sched-${id}-n0-rc0`,
        job_id: id,
        job_name: 's',
        status: 'completed',
        workflow_revision: 1,
        scheduled_for: '2026-01-05T12:01:00.000Z',
        steps: [
          { id: 'send', status: 'completed' },
          { id: 'check', status: 'completed' },
          { id: 'load', status: 'completed' },
        ],
      })
      const one = await s.admin.get(`${WORKFLOWS}1/runs/sched-${id}-n0-rc0`)
      expect(one.body).toEqual(run)
    })

    it('A15 run now: beside its schedules, with a payload, once for one key', async () => {
      const seen: Json[] = []
      const door = gate()
      const work: Handler = context => {
        seen.push(context.payload)
        return door.handler(context)
      }
      const s = await started(start, { handlers: { work } })
      await s.admin.post(WORKFLOWS, { name: 'flow', steps: only })
      const body = { payload: { day: 1 } }
      const key = { 'idempotency-key': 'k1' }
      const operator = s.service.as('operator')
      const asked = await operator.post(`${WORKFLOWS}1/run`, body, key)
      expect(asked.status).toBe(202)
      expect(asked.body).toMatchObject({ workflow_id: 1, status: 'queued' })
      const again = await operator.post(`${WORKFLOWS}1/run`, body, key)
      expect(again.body).toEqual(asked.body)
      await s.service.advance('1s')
      const path = String(asked.headers['location'])
      expect(runIn(await s.admin.get(path))).toMatchObject({
        id: `${asked.body.run_id}-rc0`,
        status: 'running',
      })
      expect(runsIn(await s.admin.get(`${WORKFLOWS}1/runs`))).toHaveLength(1)
      door.open()
      await s.service.advance('1s')
      expect(runIn(await s.admin.get(path))).toMatchObject({
        status: 'completed',
        repeat_number: null,
        steps: [{ id: 'work', status: 'completed' }],
      })
      expect(seen).toEqual([{ day: 1 }])
      // It is a task, not a schedule.
      expect((await s.list()).total).toBe(0)
    })

    it('A15 the steps of a run under way are seen', async () => {
      const door = gate()
      const s = await started(start, { handlers: { first: ok, work: door.handler } })
      const steps = [
        { id: 'a', handler: 'first' },
        { id: 'b', handler: 'work', needs: ['a'] },
      ]
      await s.admin.post(WORKFLOWS, { name: 'flow', steps })
      const { id } = await s.make()
      await s.service.advance('1m')
      await s.service.advance('10s')
      const [live] = runsIn(await s.admin.get(`${WORKFLOWS}1/runs`))
      expect(live).toMatchObject({ id: `sched-${id}-n0-rc0`, status: 'running' })
      expect(live!.steps[0]).toMatchObject({ id: 'a', status: 'completed' })
      door.open()
    })

    it('A15 the runs of one workflow only, a page at a time', async () => {
      const s = await started(start, { handlers: { work: ok } })
      await s.admin.post(WORKFLOWS, { name: 'one', steps: only })
      await s.admin.post(WORKFLOWS, { name: 'two', steps: only })
      await s.make({ name: 'a' })
      await s.make({ name: 'b', workflow_id: 2 })
      await s.service.advance('3m')
      const names: unknown[] = []
      let cursor: string | null = ''
      let pages = 0
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const page: Answered = await s.admin.get(`${WORKFLOWS}2/runs?limit=2${query}`)
        names.push(...runsIn(page).map(run => [run['job_name'], run['repeat_number']]))
        cursor = page.body.next_cursor
        pages++
      }
      expect(names).toEqual([2, 1, 0].map(repeat => ['b', repeat]))
      expect(pages).toBeGreaterThan(1)
    })
  })
})
