// The stream of events: what it tells, to whom, how it is taken up again, and when it ends.

import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import type { Role } from '../../src/service/auth/principal.ts'
import { mint } from '../../src/service/auth/tokens.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { BUFFERED_BYTES_MAX, Connection } from '../../src/service/events/connection.ts'
import { SECRET, startService, type Service, type Wire } from './service.ts'

const often = { name: 'report', handler: 'work', trigger: { every: '5m' } }
const work = { handlers: { work: () => null } }

interface Heard {
  readonly id: string
  readonly type: string
  readonly data: Wire
}

class Reader {
  readonly #stream: Readable
  #text = ''
  isOver = false

  constructor(stream: Readable) {
    this.#stream = stream
    stream.on('data', (chunk: Buffer) => (this.#text += chunk.toString()))
    stream.on('close', () => (this.isOver = true))
    stream.on('error', () => {})
  }

  get text(): string {
    return this.#text
  }

  get events(): Heard[] {
    return (
      this.#text
        .split('\n\n')
        // What comes after the last blank line is not whole.
        .slice(0, -1)
        .filter(block => block.includes('event: '))
        .map(block => {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
          return { id: field('id'), type: field('event'), data: JSON.parse(field('data')) as Wire }
        })
    )
  }

  types(but: readonly string[] = ['hello', 'counts']): string[] {
    return this.events.map(({ type }) => type).filter(type => !but.includes(type))
  }

  /** Polled, because the stream runs at its own pace. */
  async until(isSo: (reader: this) => boolean): Promise<void> {
    const deadline = Date.now() + 10_000
    while (!isSo(this)) {
      if (Date.now() > deadline) throw new Error(`not heard: ${this.#text}`)
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  stall(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  leave(): void {
    this.#stream.destroy()
  }
}

interface Asked {
  readonly role?: Role
  readonly tenant?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
}

const addresses = new WeakMap<Service, Promise<unknown>>()

function listening(s: Service): Promise<unknown> {
  const held = addresses.get(s) ?? s.app.listen({ port: 0, host: '127.0.0.1' })
  addresses.set(s, held)
  return held
}

/** Over a real socket: only there a reader can leave. */
async function ask(s: Service, { role = 'viewer', tenant = 'acme', ...asked }: Asked = {}) {
  await listening(s)
  const token = asked.token ?? (await s.token(role, tenant))
  const signed = asked.headers?.['cookie'] ? {} : { authorization: `Bearer ${token}` }
  const { port } = s.app.server.address() as AddressInfo
  return new Promise<IncomingMessage>((resolve, reject) => {
    const path = `/api/v1/events${asked.query ?? ''}`
    const headers = { ...signed, ...asked.headers }
    get({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).on('error', reject)
  })
}

async function listen(s: Service, asked: Asked = {}): Promise<Reader> {
  const answer = await ask(s, asked)
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  const reader = new Reader(answer)
  onTestFinished(() => reader.leave())
  await reader.until(({ events }) => events.some(({ type }) => type === 'hello'))
  await s.clock.settle()
  return reader
}

/** The service notices that a reader left when its socket says so. */
async function left(s: Service, reader: Reader): Promise<void> {
  const count = () =>
    new Promise<number>((resolve, reject) =>
      s.app.server.getConnections((error, open) => (error ? reject(error) : resolve(open))),
    )
  const before = await count()
  reader.leave()
  const deadline = Date.now() + 10_000
  while ((await count()) >= before) {
    if (Date.now() > deadline) throw new Error('the connection stays open')
    await new Promise(resolve => setImmediate(resolve))
  }
  await s.clock.settle()
}

async function make(s: Service, tenant = 'acme'): Promise<string> {
  const made = await s.as('admin', tenant).post('/api/v1/jobs', often)
  expect(made.status).toBe(201)
  return made.body.id
}

/** Another node on the same store, with a service of its own or without one. */
async function secondNode(s: Service) {
  const { store, clock } = s.engine
  const other = createEngine({
    store,
    clock,
    ids: new SystemIds(),
    settings: { nodeId: 'node-2' },
  })
  other.handlers.set('work', () => null)
  return other
}

describe('what the stream tells', () => {
  it('tells runs and changes of this node as they happen, each once', async () => {
    const s = await startService(work)
    const reader = await listen(s)
    const id = await make(s)
    await s.advance('5m')
    await reader.until(({ events }) => events.some(({ type }) => type === 'run.finished'))
    await s.advance('3s')
    expect(reader.types()).toEqual(['job.changed', 'run.started', 'run.finished'])
    expect(reader.events.find(({ type }) => type === 'run.finished')!.data).toMatchObject({
      job_id: id,
      run_id: `${id}.1`,
      status: 'completed',
      attempt: 1,
      duration_ms: 0,
    })
    const ids = reader.events.map(event => event.id)
    expect(new Set(ids.filter(one => one !== '')).size).toBeGreaterThanOrEqual(4)
  })

  it('tells runs of another node within a look, each once', async () => {
    const s = await startService({ ...work, works: false })
    const other = await secondNode(s)
    const reader = await listen(s)
    const id = await make(s)
    await s.until(other.node.start())
    await s.advance('5m')
    await s.advance('2s')
    await reader.until(({ events }) => events.some(({ type }) => type === 'run.finished'))
    await s.advance('10s')
    const finished = reader.events.filter(({ type }) => type === 'run.finished')
    expect(finished.map(({ data }) => [data.run_id, data['owner']])).toEqual([
      [`${id}.1`, 'node-2'],
    ])
    other.node.crash()
  })

  it('tells of a long run on another node when it starts and when it ends', async () => {
    let end = () => {}
    const over = new Promise<void>(resolve => (end = resolve))
    const s = await startService({ ...work, works: false })
    const other = await secondNode(s)
    other.handlers.set('work', () => over)
    await make(s)
    const reader = await listen(s)
    await s.until(other.node.start())
    await s.advance('6m')
    await reader.until(({ events }) => events.some(({ type }) => type === 'run.started'))
    end()
    await s.advance('2s')
    await reader.until(({ events }) => events.some(({ type }) => type === 'run.finished'))
    expect(reader.types()).toEqual(['run.started', 'run.finished'])
    other.node.crash()
  })

  it('tells when the counts change, whoever changed them', async () => {
    const s = await startService({ ...work, works: false })
    const reader = await listen(s, { query: '?topics=counts' })
    const other = await secondNode(s)
    await s.advance('1s')
    const [held] = await s.engine.store.get([await make(s)])
    const { spec } = held!
    await other.client.create([{ id: 'by-another', spec }])
    await s.advance('1s')
    const heard = () => reader.events.filter(({ type }) => type === 'counts')
    await reader.until(() => heard().at(-1)?.data['waiting'] === 2)
    expect(heard().map(({ data }) => data['waiting'])).toEqual([0, 2])
  })

  it('S3 tells the counts of each of 25 tenants that read', async () => {
    const s = await startService({ ...work, works: false })
    const tenants = Array.from({ length: 25 }, (_, i) => `tenant${i}`)
    const readers: Reader[] = []
    for (const tenant of tenants) readers.push(await listen(s, { tenant, query: '?topics=counts' }))
    for (const tenant of tenants) await make(s, tenant)
    await s.advance('3s')
    for (const reader of readers) {
      const counted = () => reader.events.filter(({ type }) => type === 'counts')
      await reader.until(() => counted().length > 0 && counted().at(-1)!.data['waiting'] !== 0)
      expect(counted().at(-1)!.data['waiting']).toBe(1)
    }
  })

  it('tells log lines and one job only when asked', async () => {
    const s = await startService({
      handlers: {
        work: context => {
          context.log.info('at work')
        },
      },
    })
    const plain = await listen(s)
    const first = await make(s)
    const second = await make(s)
    const logs = await listen(s, { query: `?topics=log,run&job=${first}` })
    await s.advance('5m')
    await logs.until(({ events }) => events.some(({ type }) => type === 'run.finished'))
    expect(logs.types()).toEqual(['run.started', 'run.log', 'run.finished'])
    expect(logs.text).not.toContain(second)
    expect(plain.types()).not.toContain('run.log')
  })
})

describe('whom it tells', () => {
  it('tells nothing of another tenant, and everything to those who see all', async () => {
    const s = await startService(work)
    const own = await listen(s)
    const other = await listen(s, { tenant: 'globex' })
    const all = await listen(s, { role: 'admin', tenant: '*' })
    const id = await make(s)
    await s.advance('5m')
    await s.as('admin').delete(`/api/v1/jobs/${id}`)
    await all.until(({ events }) => events.some(({ type }) => type === 'job.removed'))
    await own.until(reader => reader.types().includes('run.finished'))
    expect(other.types()).toEqual([])
    expect(other.text).not.toContain(id)
    expect(own.types()).toEqual(['job.changed', 'run.started', 'run.finished'])
    const scopes = all.events.filter(({ type }) => type === 'counts').map(one => one.data['tenant'])
    expect(new Set(scopes)).toEqual(new Set(['*']))
  })

  it('needs a token, and ends when the token does', async () => {
    const s = await startService({ ...work, works: false })
    expect((await s.caller().get('/api/v1/events')).status).toBe(401)
    const grant = { sub: 'short', tenant: 'acme', role: 'viewer', ttlMs: 5 * MINUTE } as const
    const reader = await listen(s, { token: await mint(SECRET, grant, s.rules) })
    await s.advance('5m')
    await reader.until(({ text }) => text.includes(': ping'))
    expect(reader.isOver).toBe(false)
    await s.advance('2m')
    await reader.until(({ isOver }) => isOver)
    expect(reader.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'unauthorized' } })
  })

  it('accepts the cookie of a session', async () => {
    const s = await startService({ ...work, works: false })
    const cookie = await s.cookie()
    const reader = await listen(s, { headers: { cookie } })
    expect(reader.types(['counts'])).toEqual(['hello'])
    const own = { cookie, 'sec-fetch-site': 'same-origin' }
    expect((await s.caller().delete('/api/v1/session', own)).status).toBe(415)
    const json = { ...own, 'content-type': 'application/json' }
    expect((await s.caller().delete('/api/v1/session', json)).status).toBe(204)
    await s.advance('1m')
    await reader.until(({ isOver }) => isOver)
    expect(reader.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'unauthorized' } })
  })
})

describe('taking it up again', () => {
  it('goes on behind the last event that was read', async () => {
    const s = await startService(work)
    const first = await listen(s)
    await make(s)
    await first.until(reader => reader.types().length === 1)
    const last = first.events.at(-1)!.id
    await left(s, first)
    await s.advance('30s')
    const id = await make(s)
    const again = await listen(s, { headers: { 'last-event-id': last } })
    expect(again.events.map(({ type }) => type)).not.toContain('resync')
    const changed = again.events.filter(({ type }) => type === 'job.changed')
    expect(changed.map(({ data }) => data['job_id'])).toEqual([id])
  })

  it('tells from the store which runs ended while nobody listened, and to read anew', async () => {
    const s = await startService(work)
    const id = await make(s)
    const first = await listen(s)
    const last = first.events.at(-1)!.id
    await left(s, first)
    // Long enough for the hub to rest and forget.
    await s.advance(HOUR)
    const recent = last.replace(/^[^-]+/, (s.now - MINUTE).toString(36))
    const again = await listen(s, { query: `?after=${recent}` })
    expect(again.types()).toEqual(['run.finished', 'resync'])
    const ended = again.events.find(({ type }) => type === 'run.finished')!
    expect(ended.data.run_id).toBe(`${id}.12`)
    const old = await listen(s, { query: `?after=${last}` })
    expect(old.types()).toEqual(['resync'])
    expect((await ask(s, { query: '?after=nonsense' })).statusCode).toBe(422)
  })
})

describe('limits', () => {
  it('holds so many streams of one caller, and frees them when they end', async () => {
    const s = await startService({ ...work, works: false })
    const readers = await Promise.all(Array.from({ length: 10 }, () => listen(s)))
    const refused = await ask(s)
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('10')
    const other = await listen(s, { tenant: 'globex' })
    expect(other.isOver).toBe(false)
    await left(s, readers[0]!)
    expect((await listen(s)).isOver).toBe(false)
  })

  it('leaves out what a reader has no room for, and tells it to read anew', () => {
    const principal = { sub: 'slow', tenant: 'acme', role: 'viewer', by: 'token' } as const
    const reader = new Connection(principal, { topics: new Set(['run']), jobId: null })
    const block = 'x'.repeat(1_024)
    for (let i = 0; i < 1_000; i++) reader.send(block)
    expect(reader.stream.readableLength).toBe(BUFFERED_BYTES_MAX)
    reader.stream.read()
    reader.send(block)
    expect(String(reader.stream.read())).toBe(`event: resync\ndata: {"reason":"slow"}\n\n${block}`)
    reader.ping()
    expect(reader.stream.destroyed).toBe(false)
  })

  it('closes a reader that does not read', async () => {
    const s = await startService({ ...work, works: false })
    const reader = await listen(s)
    const [job] = await s.engine.store.get([await make(s)])
    reader.stall()
    // More than the sockets on both ends hold for a reader that stands still.
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 1_000; i++) {
        s.engine.events.emit('changed', { verb: 'edit', jobs: [job!] })
      }
      await new Promise(resolve => setImmediate(resolve))
    }
    await s.advance('15s')
    reader.resume()
    await reader.until(({ isOver }) => isOver)
    expect(reader.types().filter(type => type === 'job.changed').length).toBeLessThan(40_000)
  })

  it('ends every stream when the service closes', async () => {
    const s = await startService({ ...work, works: false })
    const reader = await listen(s)
    await s.app.close()
    await reader.until(({ isOver }) => isOver)
    expect(reader.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'shutdown' } })
  })
})
