// Several programs on one store, each declaring its own jobs: what a start may stop, and when.

import { beforeEach, describe, expect, test } from 'vitest'
import type { Difference } from '../../src/core/declared/reconcile.ts'
import { auditKind } from '../../src/jobs/audit.ts'
import type { EngineEvents } from '../../src/runtime/events.ts'
import { createScheduler, cron, every, job, type SchedulerOptions } from '../../src/index.ts'
import type { AnyJob, Scheduler } from '../../src/library/scheduler.ts'
import { emptyRows } from '../../src/store/memory/rows.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import { CountedIds } from '../../src/testing/ids.ts'
import { trackedStore } from '../../src/testing/tracked.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-03-02T09:30:00Z')

interface Running {
  readonly scheduler: Scheduler<readonly AnyJob[]>
  readonly differences: readonly Difference[]
  readonly dropped: EngineEvents['undeclared'][]
  readonly warnings: string[]
}

let clock: VirtualClock
let rows: ReturnType<typeof emptyRows>
const ids = new CountedIds()
let ran: string[]

beforeEach(() => {
  clock = new VirtualClock(START)
  rows = emptyRows()
  ran = []
})

async function during<T>(work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => (isOver = true))
  over.catch(() => {})
  for (let i = 0; !isOver && i < 1_000; i++) await clock.settle()
  return over
}

type Options = Partial<SchedulerOptions<readonly AnyJob[]>>

async function start(name: string, jobs: readonly AnyJob[], options: Options = {}) {
  const memory = new MemoryStore(() => clock.now(), rows)
  await memory.open()
  const dropped: Running['dropped'] = []
  const warnings: string[] = []
  const scheduler = createScheduler({
    print: () => {},
    checkIntervalMs: HOUR,
    ...options,
    jobs,
    clock,
    ids,
    store: trackedStore(memory, clock).store,
    nodeId: name,
    listen: events => {
      events.on('undeclared', event => dropped.push(event))
      events.on('troubled', ({ trouble }) => warnings.push(trouble.message))
    },
  })
  await during(scheduler.start())
  return { scheduler, differences: scheduler.differences, dropped, warnings } satisfies Running
}

const stop = ({ scheduler }: Running) => during(scheduler.stop())

async function crash({ scheduler }: Running): Promise<void> {
  scheduler.engine.node.crash()
  await clock.settle()
}

async function stateOf({ scheduler }: Running, name: string): Promise<string> {
  const stored = await during(scheduler.jobs.get(`default:default:${name}:main`))
  return stored.ended?.reason ?? stored.state
}

async function ledgerOf({ scheduler }: Running, name: string) {
  const jobId = `default:default:${name}:main`
  const { items } = await during(scheduler.engine.store.ledger(jobId, { limit: 100 }))
  return items.map(entry =>
    entry.decision === 'skip' ? `skip:${entry.reason}:${entry.count}` : entry.decision,
  )
}

const note = (name: string) => ({ run: () => void ran.push(name) })
const render = job('render', note('render'))
const nightly = job('nightly', { schedule: cron('0 * * * *', { tz: 'UTC' }), ...note('nightly') })
const sweep = job('sweep', { schedule: every('1h'), ...note('sweep') })
const digest = (...keys: string[]) =>
  job('digest', {
    schedule: keys.map(key => ({ key, when: cron('0 * * * *', { tz: 'UTC' }) })),
    ...note('digest'),
  })

describe('T1 a start stops no job of another running node', () => {
  test('web and worker with different lists', async () => {
    const worker = await start('worker', [render, nightly])
    const web = await start('web', [render])
    expect(web.differences).toEqual([])
    await clock.advance(5 * HOUR)
    expect(await stateOf(worker, 'nightly')).toBe('waiting')
    expect(ran).toEqual(['nightly', 'nightly', 'nightly', 'nightly', 'nightly'])
    expect([...web.dropped, ...worker.dropped]).toEqual([])
  })

  test('two services under one label, and restarts of both', async () => {
    const mailer = await start('mailer', [nightly])
    let billing = await start('billing', [sweep])
    await stop(billing)
    await stop(mailer)
    billing = await start('billing', [sweep])
    const again = await start('mailer', [nightly])
    await clock.advance(3 * HOUR)
    expect(await stateOf(again, 'nightly')).toBe('waiting')
    expect(await stateOf(again, 'sweep')).toBe('waiting')
    expect(billing.dropped).toEqual([])
  })

  test('an old pod that restarts after the new one', async () => {
    const old = await start('old', [render])
    const next = await start('new', [render, nightly])
    await stop(old)
    const again = await start('old', [render])
    await clock.advance(2 * HOUR)
    expect(await stateOf(next, 'nightly')).toBe('waiting')
    expect(again.dropped).toEqual([])
    expect(ran.length).toBe(2)
  })

  test('a process that only enqueues changes nothing and ages nothing', async () => {
    const worker = await start('worker', [nightly, sweep])
    await stop(worker)
    const other = job('sweep', { schedule: every('7m'), ...note('sweep') })
    const web = await start('web', [render, other], { queues: {} })
    expect(web.differences.map(({ kind, name }) => [kind, name])).toEqual([['added', 'render']])
    await clock.advance(100 * HOUR)
    expect(await stateOf(web, 'nightly')).toBe('waiting')
    const stored = await during(web.scheduler.jobs.get('sweep'))
    expect(stored.spec.trigger).toMatchObject({ everyMs: HOUR })
    expect(web.dropped).toEqual([])
  })
})

describe('T1 the grace of a job that nobody declares', () => {
  test('runs while nodes of the label do; then one event, one audit row, one skip', async () => {
    const before = await start('v1', [render, nightly])
    await clock.advance(HOUR)
    await stop(before)
    const after = await start('v2', [render])
    expect(after.differences).toMatchObject([{ kind: 'undeclared', name: 'nightly' }])
    await clock.advance(58 * MINUTE)
    expect(await stateOf(after, 'nightly')).toBe('waiting')
    await clock.advance(4 * MINUTE)
    expect(await stateOf(after, 'nightly')).toBe('archived')
    expect(after.dropped).toMatchObject([{ as: 'archived', app: 'default' }])
    expect(await ledgerOf(after, 'nightly')).toEqual(['run', 'skip:undeclared:1'])
    const kind = auditKind('default')
    const audit = await during(after.scheduler.engine.store.listRecords(kind, { limit: 9 }, 0))
    expect(audit.items.map(({ value }) => value)).toMatchObject([
      { actor: 'node:v2', action: 'job.archive', object: 'default:default:nightly:main' },
    ])
  })

  test('stands still while no node of the label runs', async () => {
    await stop(await start('v1', [nightly]))
    for (let day = 0; day < 3; day++) {
      const web = await start('web', [render])
      await clock.advance(15 * MINUTE)
      expect(await stateOf(web, 'nightly')).toBe('waiting')
      await stop(web)
      await clock.advance(72 * HOUR)
    }
    const worker = await start('worker', [nightly])
    await clock.advance(1_000)
    // Down over the weekend is not undeclared: the job catches up by its own policy.
    expect(ran).toEqual(['nightly'])
    await stop(worker)
  })

  test('is counted once, however many nodes run', async () => {
    await stop(await start('v1', [nightly]))
    const nodes = [
      await start('a', [render]),
      await start('b', [render]),
      await start('c', [render]),
    ]
    await clock.advance(55 * MINUTE)
    expect(await stateOf(nodes[0]!, 'nightly')).toBe('waiting')
    await clock.advance(10 * MINUTE)
    expect(await stateOf(nodes[0]!, 'nightly')).toBe('archived')
    expect(nodes.flatMap(({ dropped }) => dropped)).toHaveLength(1)
  })

  test('starts again when a declaring node was there in between', async () => {
    await stop(await start('v1', [nightly]))
    const web = await start('web', [render])
    await clock.advance(40 * MINUTE)
    const worker = await start('worker', [nightly])
    await clock.advance(MINUTE)
    await crash(worker)
    await clock.advance(50 * MINUTE)
    expect(await stateOf(web, 'nightly')).toBe('waiting')
    await clock.advance(20 * MINUTE)
    expect(await stateOf(web, 'nightly')).toBe('archived')
  })

  test.each(['keep', 'forget'] as const)('orphans: %s', async orphans => {
    await stop(await start('v1', [nightly]))
    const web = await start('web', [render], { orphans, orphanGraceMs: 10 * MINUTE })
    await clock.advance(5 * MINUTE)
    expect(await stateOf(web, 'nightly')).toBe('waiting')
    await clock.advance(20 * MINUTE)
    const left = stateOf(web, 'nightly')
    if (orphans === 'keep') expect(await left).toBe('waiting')
    else await expect(left).rejects.toThrow('there is no job')
  })

  test('a job of a newer generation is never archived by older nodes', async () => {
    await stop(await start('v2', [nightly], { generation: 2 }))
    const old = await start('v1', [render], { generation: 1 })
    await clock.advance(5 * HOUR)
    expect(await stateOf(old, 'nightly')).toBe('waiting')
  })

  test('declared again, an archived job comes back with its numbers, cursor and pause', async () => {
    const before = await start('v1', [sweep, nightly])
    await clock.advance(2 * HOUR)
    await during(before.scheduler.jobs.pause('nightly', { note: 'ledger moves' }))
    await stop(before)
    const without = await start('v2', [render])
    await clock.advance(2 * HOUR)
    expect(await stateOf(without, 'sweep')).toBe('archived')
    await clock.advance(75 * MINUTE)
    const back = await start('v3', [sweep, nightly])
    expect(back.differences.map(({ kind, name }) => [kind, name])).toEqual([
      ['added', 'sweep'],
      ['added', 'nightly'],
    ])
    const stored = await during(back.scheduler.jobs.get('sweep'))
    expect(stored).toMatchObject({
      state: 'waiting',
      nextAt: START + 6 * HOUR,
      counters: { runs: 2, concluded: 2 },
    })
    expect(await during(back.scheduler.jobs.get('nightly'))).toMatchObject({
      state: 'paused',
      pause: { note: 'ledger moves' },
    })
    const ledger = await ledgerOf(back, 'sweep')
    expect(ledger.filter(entry => entry === 'run')).toHaveLength(2)
    const skipped = ledger.filter(entry => entry.startsWith('skip:undeclared:'))
    expect(skipped.map(entry => Number(entry.split(':')[2])).reduce((a, b) => a + b)).toBe(3)
  })
})

describe('T1 schedules of a definition', () => {
  test('follow the list of a node that declares it, at once', async () => {
    await stop(await start('v1', [digest('a', 'b')]))
    const after = await start('v2', [digest('a')])
    expect(after.differences).toMatchObject([{ kind: 'archived', id: 'default:default:digest:b' }])
    expect(after.dropped).toMatchObject([{ as: 'archived' }])
  })

  test('stay while another running node declares them, and go soon after it', async () => {
    const old = await start('v1', [digest('a', 'b')])
    const next = await start('v2', [digest('a')])
    const stateOfB = async () =>
      (await during(next.scheduler.jobs.get('default:default:digest:b'))).state
    expect(next.differences).toEqual([])
    await clock.advance(2 * HOUR)
    expect(await stateOfB()).toBe('waiting')
    await stop(old)
    await clock.advance(5 * MINUTE)
    expect(await stateOfB()).toBe('cancelled')
  })
})

describe('T1 different specs at equal generation', () => {
  test('the last start wins, and both sides are warned once', async () => {
    const first = await start('first', [sweep])
    const other = job('sweep', { schedule: every('2h'), ...note('sweep') })
    await clock.advance(MINUTE)
    const second = await start('second', [other])
    await clock.advance(HOUR)
    const stored = await during(second.scheduler.jobs.get('sweep'))
    expect(stored.spec.trigger).toMatchObject({ everyMs: 2 * HOUR })
    expect(first.warnings).toEqual([expect.stringContaining('those of second')])
    expect(second.warnings).toEqual([expect.stringContaining('those of this node')])
    expect(first.warnings[0]).toContain('sweep is declared differently')
  })

  test('is no news between generations', async () => {
    const first = await start('first', [sweep], { generation: 1 })
    const other = job('sweep', { schedule: every('2h'), ...note('sweep') })
    const second = await start('second', [other], { generation: 2 })
    await clock.advance(HOUR)
    expect([...first.warnings, ...second.warnings]).toEqual([])
  })
})

test('T1 thousands of declared schedules are published in bounded records', async () => {
  const keys = Array.from({ length: 2_500 }, (_, i) => `customer-${i}`)
  const worker = await start('worker', [digest(...keys)])
  const web = await start('web', [render])
  expect(web.differences.map(({ name }) => name)).toEqual(['render'])
  const { items } = await during(
    worker.scheduler.engine.store.listRecords('declaring:default', { limit: 100 }, 0),
  )
  expect(items.map(({ key }) => key)).toEqual(['web/0', 'worker/0', 'worker/1', 'worker/2'])
  for (const { value } of items) expect(JSON.stringify(value).length).toBeLessThan(32_000)
})
