// A store filled with jobs that have lived for some days, and emptied of them again. What is theirs
// is written down in one record, so nothing else is ever touched.

import type { Entry } from '../core/stored/entry.ts'
import { SchedulerError } from '../core/errors.ts'
import { createJob } from '../core/create.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { assertSpecs } from '../core/spec/spec-check.ts'
import { hash32 } from '../core/schedule/spread.ts'
import { HOUR, MINUTE, type Instant } from '../core/time.ts'
import { auditing } from '../jobs/audit.ts'
import type { Client } from '../jobs/client.ts'
import type { Engine } from '../create-engine.ts'
import type { Page } from '../store/port.ts'
import type { Workflow } from '../workflows/workflow.ts'
import type { Workflows } from '../workflows/workflows.ts'
import { demoJobs } from './catalog.ts'
import { DEMO_TENANT, demoWorkflows, ORDERS_ID, sourceJobs, stepsOf, workflowJob } from './flows.ts'
import type { DemoJob } from './make.ts'
import { livePast, type Done, type Life } from './past.ts'
import { playDemo } from './play.ts'
import { planOf, temperOf } from './temper.ts'

const KIND = 'demo'
const KEY = 'held'
const BATCH = 500
const LOGS_MS = 12 * HOUR
const nodes = ['web-1', 'web-2'] as const

export interface DemoParts {
  readonly engine: Engine
  readonly workflows: Workflows
}

interface Held {
  readonly jobs: readonly string[]
  readonly workflows: readonly number[]
}

export interface Loaded {
  readonly jobs: number
  readonly attempts: number
}

/** What was loaded and is still to be removed; null when there is no demo. */
export async function heldDemo({ store, clock }: Engine): Promise<Held | null> {
  const [record] = await store.getRecords(KIND, [KEY], clock.now())
  return record ? (record.value as unknown as Held) : null
}

/** Where there is a demo, its jobs are played from now on; a wanted one is loaded if there is none. */
export async function openDemo(parts: DemoParts, isWanted: boolean): Promise<void> {
  const { ids } = parts.engine
  if ((await heldDemo(parts.engine)) !== null) playDemo(parts.engine)
  else if (isWanted)
    await loadDemo(parts, parts.engine.client.with({ also: auditing(starter, ids) }))
}

/** Whoever started the service; nobody else is known. */
const starter = { sub: 'carillon --demo', tenant: '*', ip: null, requestId: null }

export async function loadDemo(
  { engine, workflows }: DemoParts,
  client: Client = engine.client,
): Promise<Loaded> {
  const { store, clock } = engine
  const now = clock.now()
  const written = demoJobs(now)
  const sources = sourceJobs()
  const ids = [...written, ...sources].map(({ id }) => id)
  await reserve(engine, [...ids, ORDERS_ID])
  const flows: Workflow[] = []
  for (const input of demoWorkflows) {
    flows.push(await workflows.create(DEMO_TENANT, input))
    await write(engine, { jobs: [...ids, ORDERS_ID], workflows: flows.map(({ id }) => id) }, null)
  }
  const all = [...written, workflowJob(flows[0]!), ...sources]
  // They do not pass through the client, whose check everything else in a store has passed.
  assertSpecs(all)
  playDemo(engine)
  const entries = entriesOf(all, flows[0]!, now)
  for (let at = 0; at < entries.length; at += BATCH) {
    await store.maintenance.load(entries.slice(at, at + BATCH), now)
  }
  await shape(client, written, now)
  engine.node.onExternalWrite()
  return { jobs: all.length, attempts: entries.filter(({ type }) => type === 'attempt').length }
}

/** What was kept of a demo goes, with its tasks and their history; says how many jobs that were. */
export async function removeDemo(
  { engine, workflows }: DemoParts,
  client: Client = engine.client,
): Promise<number> {
  const { store } = engine
  const held = await heldDemo(engine)
  if (held === null) throw new SchedulerError('JOB_NOT_FOUND', 'there is no demo here')
  let removed = 0
  for (const id of held.jobs) {
    const tasks = await tasksOf(engine, id)
    const gone = await store.remove(tasks)
    removed += gone.filter(Boolean).length
  }
  for (let at = 0; at < held.jobs.length; at += limits.pageMax) {
    const gone = await client.remove(held.jobs.slice(at, at + limits.pageMax))
    removed += gone.filter(Boolean).length
  }
  for (const id of held.workflows) {
    // Someone may have removed it before.
    await workflows.remove(DEMO_TENANT, id).catch((error: unknown) => {
      if (!(error instanceof SchedulerError)) throw error
    })
  }
  await write(engine, null, null)
  return removed
}

async function tasksOf({ store }: Engine, seriesId: string): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list({ seriesId }, { limit: limits.pageMax, cursor })
    found.push(...page.items.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  return found
}

/** What will be theirs is written down first: whatever happens on the way, it can be removed. */
async function reserve(engine: Engine, ids: readonly string[]): Promise<void> {
  const [taken] = await engine.store.get(ids)
  const isFree = taken === undefined && (await write(engine, { jobs: ids, workflows: [] }, 0))
  if (isFree) return
  const held = await heldDemo(engine)
  const what = held === null ? `there already is a job ${taken!.id}` : 'the demo is loaded already'
  throw new SchedulerError('JOB_EXISTS', what)
}

async function write(
  { store, clock }: Engine,
  held: Held | null,
  expectedVersion: number | null,
): Promise<boolean> {
  const value = held === null ? null : { jobs: [...held.jobs], workflows: [...held.workflows] }
  const record = { kind: KIND, key: KEY, value, expectedVersion, expireAt: null }
  const writes = [held === null ? { ...record, remove: true } : record]
  const [result] = await store.putRecords(writes, clock.now())
  return result === 'put'
}

function entriesOf(all: readonly DemoJob[], workflow: Workflow, now: Instant): Entry[] {
  const life = lifeOf(workflow, now)
  const pasts = all.map(({ age, pause: _pause, ...job }) =>
    livePast(createJob(job, now - age), life),
  )
  const entries: Entry[] = pasts.flatMap(({ jobs }) =>
    jobs.map(job => ({ type: 'job' as const, job })),
  )
  for (const past of pasts) entries.push(...past.entries)
  return entries
}

/** The afternoon of the day before nobody was there for half an hour. */
const AWAY = [20 * HOUR, 20 * HOUR - 35 * MINUTE] as const

function lifeOf(workflow: Workflow, now: Instant): Life {
  const [away, back] = AWAY.map(ago => now - ago) as [Instant, Instant]
  return {
    until: now - 1,
    logsFrom: now - LOGS_MS,
    claim: (dueAt, seed) => {
      const waited = 20 + (hash32(`${seed} waits`) % 100 < 92 ? 180 : 4_000)
      const at = dueAt + (hash32(`${seed} wait`) % waited)
      const owner = nodes[hash32(`${seed} node`) % nodes.length]!
      return { at: at >= away && at < back ? back + (hash32(seed) % 30_000) : at, owner }
    },
    does: (job, seed, startedAt) => done(job, seed, { workflow, startedAt }),
  }
}

interface Place {
  readonly workflow: Workflow
  readonly startedAt: Instant
}

function done(job: Job, seed: string, { workflow, startedAt }: Place): Done {
  const plan = planOf(temperOf(job.spec)!, seed, startedAt)
  const isFlow = job.spec.handler === 'action:workflow'
  const measures = isFlow ? stepsOf(workflow, job, plan, startedAt) : plan.measures
  const lines = plan.lines.map(({ afterMs, level, message }) => ({
    at: startedAt + afterMs,
    level,
    message,
    fields: null,
  }))
  if (plan.error === null) {
    const outcome = { kind: 'succeeded', result: plan.result, measures } as const
    return { tookMs: plan.tookMs, outcome, lines }
  }
  const error = { name: 'Error', message: plan.error, stack: null }
  const outcome = { kind: 'failed', error, final: false, retryAfterMs: null } as const
  return { tookMs: plan.tookMs, outcome, measures, lines }
}

/** What people did: one is paused, one was asked for by hand. */
async function shape(client: Client, all: readonly DemoJob[], now: Instant): Promise<void> {
  for (const { id, pause } of all) {
    if (pause === undefined) continue
    const until = pause.forMs === null ? {} : { until: now + pause.forMs }
    await client.pause(id, { note: pause.note, ...until })
  }
  await client.run('demo-search-reindex', { payload: { index: 'products' } })
}
