// Payloads that a job keeps beside its present one: with the job, through claims, edits and dumps.

import { describe, expect, it } from 'vitest'
import { editJob } from '../../../src/core/control/edit.ts'
import type { Json } from '../../../src/core/json.ts'
import { limits } from '../../../src/core/limits.ts'
import { requestRun } from '../../../src/core/control/requests.ts'
import { runOf } from '../../../src/core/history/run.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { JobSpec } from '../../../src/core/spec.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  claimRequest,
  everyMinute,
  failed,
  finish,
  newJob,
  onRequest,
  readAll,
  start,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { dumpOf } from '../../support/rich.ts'
import { openMemory } from '../../support/stores.ts'
import { put, stored, type UseBench } from './bench.ts'

const manual = { ...onRequest, payload: { day: 'monday' } } as const

async function edit(store: Store, id: string, parts: Partial<JobSpec>, now: Instant = T0) {
  const job = await stored(store, id)
  return write(store, editJob(job, { ...job.spec, ...parts }, now)!, now)
}

async function ask(store: Store, id: string, payload?: Json, now: Instant = T0) {
  const job = await stored(store, id)
  const input = { id: `r${job.counters.runs + 1}`, ...(payload === undefined ? {} : { payload }) }
  return write(store, requestRun(job, input, now).change, now)
}

async function runOnce(store: Store, id: string, payload?: Json, now: Instant = T0) {
  await ask(store, id, payload, now)
  return finish(store, await claimOne(store, now), succeeded, now)
}

/** As `GET /runs/:id` puts it together. */
async function readRun(store: Store, id: string, run: number) {
  const { items } = await store.attempts({ jobId: id, run }, { limit: 10 })
  return runOf(await stored(store, id), run, [...items].reverse())!
}

async function keptOf(store: Store, id: string): Promise<readonly Json[]> {
  const { spec } = await stored(store, id)
  return (spec.payloadHistory?.kept ?? []).map(({ value }) => value)
}

export function payloadTests(bench: UseBench): void {
  describe('payloads of runs', () => {
    edits(bench)
    givenOnes(bench)
    ends(bench)
  })
}

function edits(bench: UseBench): void {
  it('N3 a run of the schedule is known by its payload after the job got another one', async () => {
    const { store } = bench()
    const id = 'p'
    await put(store, newJob({ id, spec: { ...everyMinute, payload: { n: 1 } } }))
    const first = await stored(store, id)
    await finish(store, await claimOne(store, first.dueAt!), succeeded, first.dueAt!)
    const edited = await edit(store, id, { payload: { n: 2 } }, first.dueAt!)
    const claimed = await claimOne(store, edited.dueAt!)
    expect(claimed.spec.payload).toEqual({ n: 2 })
    await finish(store, claimed, succeeded, edited.dueAt!)
    const { items } = await store.attempts({ jobId: id }, { limit: 10 })
    expect(items.map(({ payload }) => payload)).toEqual([{ in: 'spec', revision: 2 }, undefined])
    const expected = { payload: { n: 1 }, payloadOf: 'job', payloadRevision: 1 }
    expect(await readRun(store, id, 1)).toMatchObject(expected)
    expect(await readRun(store, id, 2)).toMatchObject({ payload: { n: 2 }, payloadRevision: 2 })
  })

  it('N3 an attempt under way at the edit got the payload from before, its retry the new one', async () => {
    const { store } = bench()
    const id = 'p'
    const retry = { ...newJob().spec.retry, limit: null }
    await put(store, newJob({ id, spec: { ...everyMinute, retry, payload: 'old' } }))
    const { dueAt } = await stored(store, id)
    await start(store, await claimOne(store, dueAt!), dueAt!)
    await edit(store, id, { payload: 'new' }, dueAt!)
    const outcome = failed({ retryAfterMs: 1 })
    const running = await stored(store, id)
    const step = settle(running, { outcome, startedAt: dueAt! }, dueAt!)
    const waiting = await write(store, step, dueAt!)
    const claimed = await claimOne(store, waiting.dueAt!)
    expect(claimed.spec.payload).toBe('new')
    await finish(store, claimed, succeeded, waiting.dueAt!)
    expect((await readRun(store, id, 1)).payloads).toMatchObject([
      { attempt: 1, payload: 'old', payloadRevision: 1 },
      { attempt: 2, payload: 'new', payloadRevision: 2 },
    ])
  })

  it('N3 the longest history a job may have is claimed, listed and read whole', async () => {
    const { store, second } = bench()
    const id = 'p'
    await put(store, newJob({ id, spec: manual }))
    const values: Json[] = []
    for (let n = 0; n < limits.payloadsKept + 3; n++) {
      await runOnce(store, id)
      values.push((await stored(store, id)).spec.payload)
      await edit(store, id, { payload: { n, text: 'x'.repeat(8_000) } })
    }
    const kept = values.slice(-limits.payloadsKept)
    expect(await keptOf(store, id)).toEqual(kept)
    expect(await keptOf(await second(), id)).toEqual(kept)
    expect((await readRun(store, id, 1)).payloadOf).toBeNull()
    await ask(store, id)
    const [claimed] = await store.claim(claimRequest())
    expect(claimed!.spec.payloadHistory!.kept).toHaveLength(limits.payloadsKept)
    const { items } = await store.list({}, { limit: 1 })
    expect(items[0]!.spec).toEqual(claimed!.spec)
  })
}

function givenOnes(bench: UseBench): void {
  it('N3 one content is kept once, however many runs were given it', async () => {
    const { store } = bench()
    const id = 'p'
    await put(store, newJob({ id, spec: manual }))
    for (const payload of [{ n: 1 }, { n: 2 }, { n: 1 }]) await runOnce(store, id, payload)
    expect(await keptOf(store, id)).toEqual([{ n: 2 }, { n: 1 }])
    for (const [i, n] of [1, 2, 1].entries()) {
      expect(await readRun(store, id, i + 1)).toMatchObject({ payload: { n }, payloadOf: 'run' })
    }
    const { items } = await store.attempts({ jobId: id }, { limit: 10 })
    const pointers = [1, 2, 1].map(given => ({ in: 'job', given }))
    expect(items.map(({ payload }) => payload)).toEqual(pointers)
  })

  it('N3 a payload that finds no room lies with the first attempt of its run', async () => {
    const { store } = bench()
    const id = 'p'
    const retry = { ...newJob().spec.retry, limit: null }
    await put(store, newJob({ id, spec: { ...manual, retry } }))
    for (let n = 1; n <= limits.payloadsKept; n++) await runOnce(store, id, n)
    await ask(store, id, 'one more')
    const outcome = failed({ retryAfterMs: 1 })
    const after = await finish(store, await claimOne(store, T0), outcome, T0)
    await finish(store, await claimOne(store, after.dueAt!), succeeded, after.dueAt!)
    const run = limits.payloadsKept + 1
    const { items } = await store.attempts({ jobId: id, run }, { limit: 10 })
    const expected = [{ in: 'first' }, { in: 'here', value: 'one more' }]
    expect(items.map(({ payload }) => payload)).toEqual(expected)
    const read = await readRun(store, id, run)
    expect(read).toMatchObject({ payload: 'one more', payloads: [{ attempt: 1 }] })
  })

  it('N3 dumps carry what is kept, and a store that loads them answers alike', async () => {
    const { store } = bench()
    const id = 'p'
    await put(store, newJob({ id, spec: manual }))
    await runOnce(store, id)
    await runOnce(store, id, { n: 5 })
    await edit(store, id, { payload: { day: 'tuesday' } })
    const target = (await openMemory(() => T0)).store
    await target.maintenance.load(await dumpOf(store), T0)
    for (const run of [1, 2]) {
      expect(await readRun(target, id, run)).toEqual(await readRun(store, id, run))
    }
    expect(await keptOf(target, id)).toEqual([{ n: 5 }, { day: 'monday' }])
    await target.close()
  })
}

function ends(bench: UseBench): void {
  it('N3 a payload goes when retention drops the last attempt that got it', async () => {
    const { store } = bench()
    const id = 'p'
    const retention = { attempts: 2, ageMs: 0 }
    await put(store, newJob({ id, spec: { ...manual, retention } }))
    await runOnce(store, id, 'given')
    await runOnce(store, id)
    await edit(store, id, { payload: 'edited' })
    expect(await keptOf(store, id)).toEqual(['given', manual.payload])
    await runOnce(store, id, 'given', T0 + 1)
    await runOnce(store, id, undefined, T0 + 2)
    expect(await keptOf(store, id)).toEqual(['given'])
    await runOnce(store, id, undefined, T0 + 3)
    expect(await keptOf(store, id)).toEqual([])
    const left = await readAll(page => store.attempts({ jobId: id }, page))
    expect(left.map(({ payload }) => payload)).toEqual([
      { in: 'spec', revision: expect.any(Number) },
      { in: 'spec', revision: expect.any(Number) },
    ])
  })

  it('N3 nothing of it is left when the job is removed and made again', async () => {
    const { store } = bench()
    const id = 'p'
    await put(store, newJob({ id, spec: manual }))
    await runOnce(store, id, 'given')
    await store.remove([id])
    expect(JSON.stringify(await dumpOf(store))).not.toContain('given')
    await put(store, newJob({ id, spec: manual }))
    expect(await keptOf(store, id)).toEqual([])
  })
}
