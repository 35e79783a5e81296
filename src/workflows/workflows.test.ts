// Workflows as they are kept: numbers, revisions, tenants, secrets.

import { expect, onTestFinished, test } from 'vitest'
import { MASK } from '../actions/action.ts'
import { Outbound } from '../actions/guard/outbound.ts'
import { httpAction } from '../actions/http/action.ts'
import { SchedulerError } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import { openMemory } from '../../tests/support/stores.ts'
import { documentOf, inputOf, withEdgeNames } from './edge.ts'
import { Workflows } from './workflows.ts'

const NOW = Date.parse('2026-01-05T12:00:00Z')
const steps = [{ id: 'a', handler: 'x' }]
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

async function workflows() {
  const opened = await openMemory(() => NOW)
  const outbound = new Outbound({ clock: systemClock })
  onTestFinished(async () => {
    await outbound.close()
    await opened.close()
  })
  const clock = { ...systemClock, now: () => NOW }
  const http = httpAction({ outbound, clock, userAgent: 'test', secrets: () => null })
  return new Workflows({ store: opened.store, clock, http })
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof SchedulerError ? error.code : String(error)
}

test('A15: each tenant counts from one, however many are made at once', async () => {
  const all = await workflows()
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, i) => all.create('t', { name: `w${i}`, steps })),
  )
  expect(made.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 30 }, (_, i) => i + 1),
  )
  expect(await all.create('other', { name: 'w', steps })).toMatchObject({ id: 1, revision: 1 })
  const page = await all.list('t', { limit: 20 })
  expect(page.items.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  const rest = await all.list('t', { limit: 20, cursor: page.cursor })
  expect(rest.items.map(({ id }) => id).at(-1)).toBe(30)
  expect(rest.cursor).toBeNull()
})

test('A15: a chosen id is taken once, and no number is given out twice', async () => {
  const all = await workflows()
  expect((await all.create('t', { id: 7, name: 'w', steps })).id).toBe(7)
  expect(await codeOf(all.create('t', { id: 7, name: 'w', steps }))).toBe('WORKFLOW_EXISTS')
  expect((await all.create('t', { name: 'w', steps })).id).toBe(8)
  expect((await all.create('t', { id: 3, name: 'w', steps })).id).toBe(3)
  await all.remove('t', 8)
  expect((await all.create('t', { name: 'w', steps })).id).toBe(9)
  expect(await codeOf(all.get('t', 8))).toBe('WORKFLOW_NOT_FOUND')
})

test('a tenant sees only its own', async () => {
  const all = await workflows()
  await all.create('t', { name: 'w', steps })
  expect(await codeOf(all.get('u', 1))).toBe('WORKFLOW_NOT_FOUND')
  expect(await codeOf(all.update('u', 1, { name: 'x' }))).toBe('WORKFLOW_NOT_FOUND')
  expect(await codeOf(all.remove('u', 1))).toBe('WORKFLOW_NOT_FOUND')
  expect((await all.list('u', { limit: 10 })).items).toEqual([])
})

test('an update changes what is given, by revision', async () => {
  const all = await workflows()
  await all.create('t', { name: 'w', steps })
  const renamed = await all.update('t', 1, { name: 'new' }, { revision: 1 })
  expect(renamed).toMatchObject({ name: 'new', revision: 2, steps: [{ id: 'a', needs: [] }] })
  expect(await codeOf(all.update('t', 1, { name: 'late' }, { revision: 1 }))).toBe(
    'REVISION_CONFLICT',
  )
  expect(await codeOf(all.remove('t', 1, { revision: 1 }))).toBe('REVISION_CONFLICT')
  expect(await codeOf(all.update('t', 1, { steps: [] }))).toBe('WORKFLOW_INVALID')
  expect(await codeOf(all.update('t', 1, { id: 2 }))).toBe('WORKFLOW_INVALID')
  const same = await all.update('t', 1, { id: 1, name: 'new' })
  expect(same.revision).toBe(2)
})

test('updates at the same time all happen, one after another', async () => {
  const all = await workflows()
  await all.create('t', { name: 'w', steps })
  await Promise.all(Array.from({ length: 10 }, (_, i) => all.update('t', 1, { name: `w${i}` })))
  expect((await all.get('t', 1)).revision).toBe(11)
})

test('secrets are hidden from readers, kept through their edits, and there for the run', async () => {
  const all = await workflows()
  const headers = { Authorization: 'Bearer abc' }
  const http = { url: 'https://example.com/', headers, secrets: [SECRET] }
  const made = await all.create('t', { name: 'w', steps: [{ id: 'call', http }] })
  expect(made.steps[0]!.http).toMatchObject({ headers: { Authorization: MASK }, secrets: [MASK] })
  await all.update('t', 1, { ...made, name: 'new' })
  const stored = await all.find('t', 1)
  expect(stored).toMatchObject({ name: 'new', steps: [{ http: { headers, secrets: [SECRET] } }] })
  expect(JSON.stringify(await all.list('t', { limit: 1 }))).not.toContain('Bearer')
})

test('at the edge it goes by the words of the HTTP API', async () => {
  const all = await workflows()
  const body = { name: 'w', trigger_nodes: [{ id: 'trigger_a', kind: 'schedule' }], steps }
  const document = documentOf(await all.create('t', inputOf(body)))
  expect(document).toEqual({
    id: 1,
    name: 'w',
    active: true,
    trigger_nodes: [{ id: 'trigger_a', kind: 'schedule', priority: 3, active: true }],
    steps: [{ id: 'a', needs: [], handler: 'x' }],
    revision: 1,
    created_at: '2026-01-05T12:00:00.000Z',
    updated_at: '2026-01-05T12:00:00.000Z',
  })
  const again = await all.update('t', 1, inputOf({ ...document, active: false }))
  expect(again).toMatchObject({ active: false, revision: 2 })
  const wrong = inputOf({ ...body, trigger_nodes: [{ kind: 'web' }] })
  const error = await all.create('t', wrong).catch(withEdgeNames)
  expect((error as SchedulerError).problems.map(({ field }) => field)).toEqual([
    'trigger_nodes.0.kind',
  ])
  expect(() => inputOf({ ...body, entries: [] })).toThrow('entries')
})
