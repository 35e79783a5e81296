// B19, D9: alerts reach a real server: signed, once when they come and once when they go, also with
// several nodes on one store.

import { createHmac } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { AllowList } from '../../src/actions/guard/allow.ts'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import type { AlertLimits } from '../../src/service/alerts/conditions.ts'
import { alertDefaults } from '../../src/service/alerts/conditions.ts'
import { AlertSender } from '../../src/service/alerts/sender.ts'
import { readReaped } from '../../src/engine/reaped.ts'
import { postAlert } from '../../src/service/alerts/post.ts'
import { AlertWatch } from '../../src/service/alerts/watch.ts'
import { emptyRows } from '../../src/store/memory/rows.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import { trackedStore } from '../../src/testing/tracked.ts'
import { site, type Answer, type Site } from '../actions/site.ts'
import { eventually } from '../support/servers/wait.ts'
import { moment, span, WorldClock } from '../support/world-parts.ts'

const key = Buffer.alloc(32, 7)
const secret = `whsec_${key.toString('base64')}`

interface Node {
  readonly engine: Engine
  readonly watch: AlertWatch
  readonly sender: AlertSender
  readonly tracked: { isLost: boolean }
}

interface Told {
  readonly type: string
  readonly data: { readonly condition: string; readonly message: string; readonly job: unknown }
}

class Scene {
  readonly clock = new WorldClock(moment('2026-01-05T12:00:00Z'))
  readonly rows = emptyRows()
  readonly receiver: Site
  readonly senders: AlertSender[] = []

  constructor(receiver: Site) {
    this.receiver = receiver
  }

  async node(name: string, limits: Partial<AlertLimits> = {}): Promise<Node> {
    const { clock } = this
    const store = new MemoryStore(() => clock.now(), this.rows)
    await store.open()
    const tracked = trackedStore(store, clock)
    const engine = createEngine({
      store: tracked.store,
      clock,
      ids: new SystemIds(),
      settings: { nodeId: name, checkIntervalMs: 60_000 },
    })
    const allow = AllowList.parse([`127.0.0.1:${this.receiver.port}`]).list
    // Requests are real, so their time is too.
    const outbound = new Outbound({ clock: systemClock, allow })
    const url = `${this.receiver.origin}/alerts`
    const sender = new AlertSender({
      clock,
      log: null,
      post: postAlert({ outbound, clock, url, secret }),
    })
    this.senders.push(sender)
    const all = { ...alertDefaults, ...limits }
    const cleared = () => readReaped(engine, {})
    const watch = new AlertWatch({ engine, limits: all, sender, cleared })
    onTestFinished(async () => {
      engine.node.crash()
      await watch.stop()
      await sender.stop()
      await outbound.close()
    })
    return { engine, watch, sender, tracked }
  }

  get told(): Told[] {
    return this.receiver.asked.map(({ body }) => JSON.parse(body) as Told)
  }

  /** What the receiver has heard when it has heard so much and its answers have come back. */
  heard(count: number): Promise<Told[]> {
    return eventually(`${count} alerts`, async () => {
      await this.clock.settle()
      const isQuiet = this.senders.every(({ waiting }) => waiting === 0)
      return isQuiet && this.told.length >= count ? this.told : null
    })
  }

  async advance(by: string): Promise<void> {
    await this.clock.advance(span(by))
    await this.clock.settle()
  }
}

async function scene(answer: Answer = (_, response) => response.writeHead(204).end()) {
  return new Scene(await site(answer))
}

const minutely: JobSpec = completeSpec({
  name: 'crawl',
  handler: 'work',
  trigger: { kind: 'interval', everyMs: 60_000, from: 'schedule', anchor: null },
  retry: {
    limit: 0,
    backoff: { kind: 'fixed', delayMs: 0 },
    resetAfterMs: null,
    exhausted: 'next',
    yields: false,
  },
})

/** A node with a minutely job that fails while `bad.is`. */
async function withFailing(place: Scene, node: Node): Promise<{ is: boolean }> {
  const bad = { is: true }
  node.engine.handlers.set('work', () => {
    if (bad.is) throw new Error('no luck')
  })
  await node.engine.client.create([{ id: 'j1', spec: minutely }])
  const started = node.engine.node.start()
  await place.clock.settle()
  await started
  return bad
}

test('B19: a failing job is told once when it begins to fail and once when it is over', async () => {
  const place = await scene()
  const node = await place.node('n1')
  const bad = await withFailing(place, node)
  node.watch.start()
  await place.advance('10m')
  const [raised] = await place.heard(1)
  expect(raised).toMatchObject({
    type: 'alert.raised',
    data: {
      condition: 'success_rate',
      message: 'the success rate of "crawl" is 0 %, below 80 %',
      limit: 0.8,
      job: { id: 'j1', name: 'crawl', tenant: 'default' },
      node: 'n1',
      cleared_at: null,
    },
  })
  await place.advance('10m')
  bad.is = false
  await place.advance('25m')
  const told = await place.heard(2)
  expect(told.map(({ type, data }) => `${type} ${data.condition}`)).toEqual([
    'alert.raised success_rate',
    'alert.cleared success_rate',
  ])
  expect(told[1]!.data.message).toMatch(/^over: the success rate of "crawl" is \d/)
})

test('every alert is signed as Standard Webhooks describes', async () => {
  const place = await scene()
  const node = await place.node('n1')
  await withFailing(place, node)
  await place.advance('6m')
  await node.watch.check()
  await place.heard(1)
  const { headers, body } = place.receiver.asked[0]!
  const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`
  const expected = createHmac('sha256', key).update(signed).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${expected}`)
  expect(headers['webhook-id']).toMatch(/^alert_[\w-]{32}$/)
})

test('nodes on one store tell of a job once, whoever saw it', async () => {
  const place = await scene()
  const nodes = [await place.node('n1'), await place.node('n2'), await place.node('n3')]
  const bad = await withFailing(place, nodes[0]!)
  for (const { watch } of nodes) watch.start()
  await place.advance('10m')
  await place.heard(1)
  bad.is = false
  await place.advance('30m')
  await place.heard(2)
  await place.advance('30m')
  expect(place.told.map(({ type }) => type)).toEqual(['alert.raised', 'alert.cleared'])
})

test('a receiver that is down is tried again under the same id', async () => {
  let calls = 0
  const place = await scene((_, response) => response.writeHead(++calls < 3 ? 503 : 200).end())
  const node = await place.node('n1')
  await withFailing(place, node)
  await place.advance('6m')
  await node.watch.check()
  await eventually('the third try', async () => {
    await place.advance('1s')
    return calls === 3 ? true : null
  })
  const ids = place.receiver.asked.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(node.sender.text()).toContain('carillon_alert_requests_total 3')
})

test('an alert nobody took is told again later, not forgotten', async () => {
  let status = 400
  const place = await scene((_, response) => response.writeHead(status).end())
  const node = await place.node('n1')
  await withFailing(place, node)
  await place.advance('6m')
  await node.watch.check()
  await place.heard(1)
  status = 200
  await eventually('a second alert', async () => {
    await place.advance('10s')
    await node.watch.check()
    return place.told.length > 1 ? true : null
  })
  await place.heard(2)
  expect(node.sender.text()).toContain('carillon_alerts_total{result="sent"} 1')
  expect(node.sender.text()).toContain('carillon_alerts_total{result="failed"} 1')
})

test('D9: a lost store is told by each node that lost it, and when it is back', async () => {
  const place = await scene()
  const node = await place.node('n1', { error_rate: null, claims_failing: null })
  const other = await place.node('n2')
  const started = node.engine.node.start()
  await place.clock.settle()
  await started
  node.watch.start()
  other.watch.start()
  await place.advance('1m')
  node.tracked.isLost = true
  await place.advance('50s')
  const [raised] = await place.heard(1)
  expect(raised).toMatchObject({
    type: 'alert.raised',
    data: { condition: 'store_down', node: 'n1' },
  })
  node.tracked.isLost = false
  await place.advance('1m')
  const told = await place.heard(2)
  expect(told.map(({ type }) => type)).toEqual(['alert.raised', 'alert.cleared'])
})

test('D9: a node whose rounds fail says so', async () => {
  const place = await scene()
  const node = await place.node('n1', { store_down: null })
  const started = node.engine.node.start()
  await place.clock.settle()
  await started
  node.watch.start()
  node.tracked.isLost = true
  await place.advance('2m')
  const told = await place.heard(2)
  expect(told.map(({ data }) => data.condition).toSorted()).toEqual([
    'claims_failing',
    'error_rate',
  ])
})

test('D9: work that waits longer than a minute is told once', async () => {
  const place = await scene()
  const node = await place.node('n1')
  node.engine.handlers.set('work', () => null)
  await node.engine.client.create([{ id: 'j1', spec: minutely }])
  node.watch.start()
  await place.advance('2m')
  expect(place.told).toEqual([])
  await place.advance('1m')
  const [raised] = await place.heard(1)
  expect(raised!.data).toMatchObject({ condition: 'processing_delay', job: null })
  await place.advance('10m')
  expect(place.told.map(({ type }) => type)).toEqual(['alert.raised'])
})
