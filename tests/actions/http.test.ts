// The http action in a running node, against a real receiver.

import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { httpAction } from '../../src/actions/http/action.ts'
import { Registry } from '../../src/actions/registry.ts'
import { secretsFrom } from '../../src/actions/secrets.ts'
import type { Json } from '../../src/core/json.ts'
import type { SpecInput } from '../../src/core/spec.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { allow, eager, startNode, type TestNode } from './node.ts'
import { eventually } from '../support/servers/wait.ts'
import { site, type Answer, type Site } from './site.ts'

const KEY = Buffer.alloc(32, 3)
const SECRET = `whsec_${KEY.toString('base64')}`

interface Hooked {
  readonly receiver: Site
  readonly node: TestNode
  readonly send: (
    settings: object,
    more?: { payload?: Json; spec?: Partial<SpecInput> },
  ) => Promise<string>
}

async function hooked(answer: Answer, env: Record<string, string> = {}): Promise<Hooked> {
  const receiver = await site(answer)
  const outbound = new Outbound({ clock: systemClock, allow: allow(`127.0.0.1:${receiver.port}`) })
  onTestFinished(() => outbound.close())
  const actions = new Registry().add(
    httpAction({ outbound, clock: systemClock, userAgent: 'Carillon', secrets: secretsFrom(env) }),
  )
  const node = await startNode(actions.handlers)
  return {
    receiver,
    node,
    send: async (settings, { payload = null, spec = {} } = {}) => {
      const { action, problems } = actions.check({
        kind: 'http',
        url: receiver.origin,
        ...settings,
      })
      expect(problems).toEqual([])
      const job = await node.create({ retry: eager, ...spec, ...actions.specOf(action!, payload) })
      return job.id
    },
  }
}

/** Sends back all it was sent, in the forms that debugging receivers use. */
const echo: Answer = ({ path, headers, body }, response) => {
  const args = Object.fromEntries(new URL(path, 'http://x').searchParams)
  const seen = { path, args, headers, data: body }
  response.writeHead(500, { 'content-type': `text/${args['k']}` })
  response.end(`${JSON.stringify(seen)} ${body} ${new URLSearchParams(args).toString()}`)
}

describe('S2 the http action resolves secrets per tenant', () => {
  const env = {
    'CARILLON_SECRET_KEY.acme': 'a/"c1_zq',
    'CARILLON_SECRET_KEY.globex': 'globex-canary',
    CARILLON_SECRET_SHORT: 'ab12',
    'CARILLON_SECRET_SIGN.acme': SECRET,
  }
  const settings = {
    headers: { authorization: { secret: 'KEY', prefix: 'Bearer ' } },
    params: [{ name: 'k', value: { secret: 'KEY' } }],
    body: { key: { secret: 'KEY' }, plain: 'shown' },
    secrets: [{ secret: 'SIGN' }],
    method: 'PUT',
  }

  it('sends them, and shows them in no result, log or error', async () => {
    const { receiver, node, send } = await hooked(echo, env)
    await send(settings, { spec: { tenant: 'acme', retry: { ...eager, limit: 0 } } })
    const [attempt] = await node.attempts(1)
    const [request] = receiver.asked
    expect(request!.headers).toMatchObject({ authorization: 'Bearer a/"c1_zq' })
    expect(request!.headers['webhook-signature']).toMatch(/^v1,/)
    expect(new URL(request!.path, receiver.origin).searchParams.get('k')).toBe('a/"c1_zq')
    expect(JSON.parse(request!.body)).toEqual({ key: 'a/"c1_zq', plain: 'shown' })
    const kept = JSON.stringify([attempt, node.logged, node.settled])
    expect(kept).toContain('shown')
    expect(kept).toContain('***')
    for (const canary of ['c1_zq', '%22c1_zq', SECRET]) expect(kept).not.toContain(canary)
  })

  it('of another tenant there is nothing: the run fails and is tried again', async () => {
    const { receiver, node, send } = await hooked(echo, env)
    await send(settings, { spec: { tenant: 'initech' } })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'failed' })
    expect(attempt!.error!.message).toBe('this node has no secret KEY')
    expect(receiver.asked).toEqual([])
  })
})

describe('the http action', () => {
  it('sends the payload as JSON, signed, and keeps the answer', async () => {
    const { receiver, node, send } = await hooked((_, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
    await send({ secrets: [SECRET] }, { payload: { hello: 'wörld' } })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({
      outcome: 'succeeded',
      result: { status: 201, content_type: 'application/json', body: '{"ok":true}', is_cut: false },
    })
    const { method, headers, body } = receiver.asked[0]!
    expect([method, headers['content-type'], body]).toEqual([
      'POST',
      'application/json',
      '{"hello":"wörld"}',
    ])
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
    const mac = createHmac('sha256', KEY).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${mac}`)
    expect(headers['carillon-attempt']).toBe('1')
  })

  it('keeps its id over the attempts of a run and counts them (inv-E7)', async () => {
    const { receiver, node, send } = await hooked((_, response, { asked }) => {
      response.writeHead(asked.length < 3 ? 500 : 200).end()
    })
    await send({})
    const attempts = await node.attempts(3)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'succeeded'])
    const sent = receiver.asked.map(({ headers }) => headers)
    expect(new Set(sent.map(headers => headers['webhook-id'])).size).toBe(1)
    expect(sent.map(headers => headers['carillon-attempt'])).toEqual(['1', '2', '3'])
    expect(new Set(sent.map(headers => headers['carillon-fence'])).size).toBe(3)
  })

  it.each([
    ['120', 120_000],
    ['0', 60_000],
  ])('Retry-After %s waits, but never less than the backoff', async (text, waitMs) => {
    const { node, send } = await hooked((_, response) => {
      response.writeHead(503, { 'retry-after': text }).end()
    })
    const retry = { ...eager, backoff: { kind: 'fixed', delayMs: 60_000 } } as const
    await send({}, { spec: { retry } })
    await node.attempts(1)
    const { job, attempt } = node.settled[0]!
    expect(job.dueAt! - attempt.finishedAt).toBe(waitMs)
  })

  it('410 disables the job and says why', async () => {
    const { node, send } = await hooked((_, response) => response.writeHead(410).end())
    await send(
      {},
      { spec: { trigger: { kind: 'interval', everyMs: 10, from: 'finish', anchor: null } } },
    )
    await node.attempts(1)
    const { job } = node.settled[0]!
    expect(job.state).toBe('failed')
    expect(job.lastError?.message).toContain('410 Gone')
  })

  it.each([400, 404, 302])('%d is final: one attempt, the job has failed', async status => {
    const { receiver, node, send } = await hooked((_, response) => {
      response.writeHead(status, { location: 'http://127.0.0.1/' }).end()
    })
    await send({})
    await node.attempts(1)
    expect(node.settled[0]!.job.state).toBe('failed')
    expect(receiver.asked).toHaveLength(1)
  })

  it('a receiver that echoes everything gives no secret away (sec-K1, sec-K2)', async () => {
    const { node, send } = await hooked(({ headers }, response) => {
      response.end(`${JSON.stringify(headers)} ${SECRET}`)
    })
    const headers = { Authorization: 'Bearer canary-in-header', 'X-Api-Key': 'canary-in-key' }
    await send({ headers, secrets: [SECRET] })
    const [attempt] = await node.attempts(1)
    const told = JSON.stringify([attempt, node.logged])
    expect(told).not.toContain('canary')
    expect(told).not.toContain(KEY.toString('base64'))
    expect(told).toContain('***')
  })

  it('keeps only the beginning of a long answer', async () => {
    const { node, send } = await hooked((_, response) => response.end('x'.repeat(100_000)))
    await send({})
    const [attempt] = await node.attempts(1)
    expect(attempt!.result).toMatchObject({ body: 'x'.repeat(4_096), is_cut: true })
  })

  it('method, headers and body are the job\u2019s own', async () => {
    const { receiver, node, send } = await hooked((_, response) => response.end())
    await send({ method: 'PUT', headers: { 'Content-Type': 'text/csv', 'X-A': '1' }, body: 'a,b' })
    await node.attempts(1)
    expect(receiver.asked[0]).toMatchObject({
      method: 'PUT',
      body: 'a,b',
      headers: { 'content-type': 'text/csv', 'x-a': '1' },
    })
  })

  it('a run asked for with its own payload sends that payload to the stored URL', async () => {
    const { receiver, node, send } = await hooked((_, response) => response.end())
    const id = await send({}, { payload: { a: 1 }, spec: { trigger: { kind: 'manual' } } })
    const evil = { action: { kind: 'http', url: 'http://example.com/' }, payload: 'x' }
    await node.engine.client.run(id, { payload: { a: 2 } })
    await node.attempts(1)
    await node.engine.client.run(id, { payload: evil })
    await node.attempts(2)
    expect(receiver.asked.map(({ body }) => body)).toEqual(['{"a":2}', JSON.stringify(evil)])
  })

  it('a cancelled job lets go of its request at once', async () => {
    let closed = false
    const { receiver, node, send } = await hooked((_, response) => {
      response.on('close', () => (closed = true))
    })
    const id = await send({})
    await eventually('the request', () => receiver.asked.length === 1 || null)
    await node.engine.client.cancel(id)
    await eventually('the connection to be closed', () => closed || null)
    expect((await node.engine.client.get(id)).state).toBe('cancelled')
  })
})
