// A store with a bit of everything in it: every type of entry, every state, odd texts, a lease.

import type { Entry } from '../../src/core/stored/entry.ts'
import { editJob } from '../../src/core/control/edit.ts'
import type { Job } from '../../src/core/job.ts'
import { canonicalJson } from '../../src/core/json.ts'
import { ENDED_TASK_KEPT_MS } from '../../src/core/limits.ts'
import { pauseJob } from '../../src/core/control/pause.ts'
import { requestRun } from '../../src/core/control/requests.ts'
import { settle } from '../../src/core/run/settle.ts'
import { DAY, MINUTE } from '../../src/core/time.ts'
import type { Report, Store } from '../../src/store/port.ts'
import {
  claimRequest,
  everyMinute,
  failed,
  finish,
  job,
  makeIds,
  newJob,
  onRequest,
  readAll,
  start,
  succeeded,
  T0,
  write,
  type Ids,
} from './builders.ts'

export const oddText = 'q"\'\\ \n\u0001\u0000 ö 日本 😀 \u2028 :%_'

/** The moment the story of `fillRich` ends at. */
export const RICH_END = T0 + 3 * DAY

/** Ends with `held` running under a lease, `paused` paused and work due in three lanes. */
export async function fillRich(store: Store): Promise<void> {
  const ids = makeIds()
  const before = T0 - ENDED_TASK_KEPT_MS - MINUTE
  await pruned(store, ids, before)
  await recurring(store, ids)
  await edited(store, ids)
  await told(store, ids)
  await contended(store, ids)
  await aside(store)
}

async function take(store: Store, ids: Ids, queue: string, now: number): Promise<Job> {
  const [claimed] = await store.claim(claimRequest({ queue, now }, ids))
  if (!claimed) throw new Error(`nothing was due in ${queue}`)
  return claimed
}

/** Tasks of two tenants that ended and are gone; only their numbers are left. */
async function pruned(store: Store, ids: Ids, now: number): Promise<void> {
  const spec = { queue: 'old', trigger: { kind: 'once', at: now } } as const
  const gone = ['t1', 't2', oddText].map(tenant =>
    newJob({ id: `gone-${tenant}`, kind: 'task', now, spec: { ...spec, tenant } }),
  )
  await store.insert(gone, { now })
  for (const [i] of gone.entries()) {
    const claimed = await take(store, ids, 'old', now)
    await finish(store, claimed, i === 0 ? failed({ final: true }) : succeeded, now)
  }
  await store.prune({ now: T0, limit: 100, endedTasksMax: 100 })
}

/** Succeeds, fails, is retried, misses firings; then is paused with a request behind it. */
async function recurring(store: Store, ids: Ids): Promise<void> {
  const spec = {
    ...everyMinute,
    queue: 'often',
    name: oddText,
    payload: { [oddText]: [null, 0.1] },
  }
  const declared = { app: 'shop', definition: 'beat', key: '', generation: '1' }
  const made = newJob({ id: oddText, now: T0, spec, declared })
  await store.insert([made], { now: T0 })
  let at = T0 + MINUTE
  let last = made
  for (const outcome of [succeeded, failed(), succeeded]) {
    const claimed = await take(store, ids, 'often', at)
    last = await finish(store, claimed, outcome, at)
    at = last.dueAt!
  }
  // Down for half an hour: the firings between are folded into one run.
  at += 30 * MINUTE
  last = await finish(store, await take(store, ids, 'often', at), succeeded, at)
  const asked = requestRun(last, { id: 'r1', payload: { by: oddText } }, at)
  last = await write(store, asked.change, at)
  await write(store, pauseJob(last, { until: RICH_END + DAY, note: oddText }, at), at)
}

/** Its runs got three payloads, of which one was given. */
async function edited(store: Store, ids: Ids): Promise<void> {
  const spec = { ...onRequest, queue: 'edited', payload: { [oddText]: 'first' } }
  let last = newJob({ id: 'edited', now: T0, spec })
  await store.insert([last], { now: T0 })
  for (const payload of [undefined, { given: oddText }, undefined]) {
    const input = { id: `r${last.counters.runs}`, ...(payload === undefined ? {} : { payload }) }
    await write(store, requestRun(last, input, T0).change, T0)
    last = await finish(store, await take(store, ids, 'edited', T0), succeeded, T0)
    const next = { ...last.spec, payload: { [oddText]: last.counters.runs } }
    last = await write(store, editJob(last, next, T0)!, T0)
  }
}

/** One attempt with a log that ended, and one that still runs, with progress and a checkpoint. */
async function told(store: Store, ids: Ids): Promise<void> {
  const jobs = ['done', 'held'].map(id => job(id, { queue: 'told', tenant: 't1' }))
  await store.insert(jobs, { now: T0 })
  for (const id of ['done', 'held']) {
    const claimed = await take(store, ids, 'told', T0)
    if (claimed.id !== id) throw new Error(`${claimed.id} was claimed before ${id}`)
    const running = (await start(store, claimed, T0))!
    const { token, attemptId } = running.lease!
    const report: Report = {
      jobId: running.id,
      token,
      fence: running.counters.fence,
      attemptId,
      progress: { fraction: 0.5, note: oddText },
      checkpoint: { at: [1, 2] },
      lines: [
        { at: T0, level: 'info', message: oddText, fields: { a: oddText } },
        { at: T0 + 1, level: 'error', message: '', fields: null },
      ],
    }
    await store.report([report], T0)
    if (id === 'held') continue
    const outcome = { kind: 'succeeded', result: { ok: oddText }, measures: { rows: 3 } } as const
    await write(store, settle(running, { outcome, startedAt: T0 }, T0 + 5), T0 + 5)
  }
}

/** More is due than was taken: the queue remembers whose turn was last. */
async function contended(store: Store, ids: Ids): Promise<void> {
  const jobs = Array.from({ length: 12 }, (_, i) => {
    const lane = ['a', 'b', 'ö'][i % 3]!
    const trigger = { kind: 'once', at: T0 + i } as const
    const work = i === 11 ? { handler: 'action:http', isAction: true } : {}
    return job(`due-${i}`, { queue: 'lanes', tenant: lane, lane, trigger, ...work })
  })
  await store.insert(jobs, { now: T0 })
  const claimed = await store.claim(claimRequest({ queue: 'lanes', now: T0 + 99, limit: 4 }, ids))
  for (const held of claimed) await finish(store, held, succeeded, T0 + 99)
}

async function aside(store: Store): Promise<void> {
  await store.setQueuePaused('closed', true)
  await store.setQueuePaused('opened again', true)
  await store.setQueuePaused('opened again', false)
  const record = { kind: 'key', expectedVersion: null, expireAt: null }
  const writes = [
    { ...record, key: oddText, value: { [oddText]: oddText } },
    { ...record, key: 'twice', value: 1 },
    { ...record, key: 'twice', value: null },
    { ...record, kind: oddText, key: '', value: [], expireAt: RICH_END + DAY },
  ]
  await store.putRecords(writes, T0)
}

export async function dumpOf(store: Store, limit = 100): Promise<Entry[]> {
  return readAll(({ cursor }) => store.maintenance.dump({ cursor: cursor ?? null, limit }))
}

/** Whatever the order a store tells them in. */
export function sorted(entries: readonly Entry[]): string[] {
  return entries.map(entry => canonicalJson(entry)).sort()
}
