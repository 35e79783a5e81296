// N5: what an alert is about: workflows each by itself, and missing runs of every tenant.

import { expect, test } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import { completeSpec } from '../../src/core/spec.ts'
import { startService, type Service, type Wire } from './service.ts'

function alertsOf(s: Service): string[] {
  const told: string[] = []
  s.engine.events.on('alerted', ({ alert }) => {
    told.push(`${alert.type.slice('alert.'.length)} ${alert.subject.name}`)
  })
  return told
}

test('N5 runs of workflows asked for by hand are judged per workflow', async () => {
  const broken = new Set(['one', 'two'])
  const step = ({ payload }: { readonly payload: unknown }) => {
    if (broken.has(String(payload))) throw new Error(`${String(payload)} is down`)
    return null
  }
  const s = await startService({ handlers: { step } })
  const admin = s.as('admin')
  const ids = new Map<string, unknown>()
  for (const name of ['one', 'two']) {
    const steps = [{ id: 'only', handler: 'step', input: name }]
    const made = await admin.post('/api/v1/workflows', { name, steps })
    expect(made.status).toBe(201)
    ids.set(name, made.body.id)
  }
  const told = alertsOf(s)
  const run = async (name: string) => {
    expect((await admin.post(`/api/v1/workflows/${String(ids.get(name))}/run`, {})).status).toBe(
      202,
    )
    await s.advance('5s')
  }
  await run('one')
  await run('two')
  expect(told).toEqual(['raised one', 'raised two'])
  const { body } = await s.as('viewer').get('/api/v1/attention')
  const shown = (body['findings'] as Wire[]).filter(found => found['code'] === 'failing')
  expect(shown.map(({ text }) => text)).toEqual([
    'A run of workflow one failed: step only: one is down',
    'A run of workflow two failed: step only: two is down',
  ])
  broken.delete('two')
  await run('two')
  await s.advance('1m')
  expect(told).toEqual(['raised one', 'raised two', 'cleared two'])
  broken.delete('one')
  await run('one')
  await s.advance('1m')
  expect(told.slice(3)).toEqual(['cleared one'])
})

test('N5 a tenant with many missing runs does not hide those of another', async () => {
  const s = await startService()
  const told = alertsOf(s)
  const make = async (tenant: string, count: number) => {
    const trigger = { kind: 'once', at: s.clock.now() } as const
    const jobs = Array.from({ length: count }, (_, i) => {
      const name = `${tenant}-${i}`
      return { id: name, spec: completeSpec({ name, tenant, handler: 'nobody', trigger }) }
    })
    await s.engine.client.create(jobs)
  }
  await make('many', 25)
  await s.advance('7m')
  expect(told).toHaveLength(21)
  await make('few', 2)
  await s.advance('7m')
  expect(told.slice(21).toSorted()).toEqual(['raised few-0', 'raised few-1'])
})

test('N5 a definition recovers behind many others that stay broken', async () => {
  let isLastBroken = true
  const names = Array.from({ length: 25 }, (_, i) => `work-${String(i).padStart(2, '0')}`)
  const last = names.at(-1)!
  const work = ({ job }: { readonly job: Job }) => {
    if (job.spec.handler !== last || isLastBroken) throw new Error('down')
  }
  const s = await startService({ handlers: Object.fromEntries(names.map(name => [name, work])) })
  const told = alertsOf(s)
  const push = async (handler: string, id = handler) => {
    const trigger = { kind: 'once', at: s.clock.now() } as const
    const spec = completeSpec({ handler, trigger })
    await s.engine.client.create([{ id, kind: 'task', spec }])
    await s.advance('1s')
  }
  for (const name of names) await push(name)
  await s.advance('5s')
  expect(told).toHaveLength(25)
  isLastBroken = false
  await push(last, 'again')
  await s.advance('2m')
  expect(told.slice(25)).toEqual([`cleared ${last}`])
})
