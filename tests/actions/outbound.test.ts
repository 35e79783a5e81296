// The one way out, against real servers: what is dialled is what was checked.

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AllowList } from '../../src/actions/guard/allow.ts'
import type { Resolve } from '../../src/actions/guard/connect.ts'
import type { AddressRefused, OutboundFault } from '../../src/actions/guard/errors.ts'
import { Outbound, type OutboundLimits } from '../../src/actions/guard/outbound.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { eventually } from '../support/servers/wait.ts'
import { site } from './site.ts'

interface Given {
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
  readonly limits?: Partial<OutboundLimits>
}

function outbound({ allow = [], resolve, limits }: Given) {
  const refused: AddressRefused[] = []
  const { list, problems } = AllowList.parse(allow)
  expect(problems).toEqual([])
  const client = new Outbound({
    clock: systemClock,
    allow: list,
    onRefused: one => refused.push(one),
    ...(resolve ? { resolve } : {}),
    ...(limits ? { limits } : {}),
  })
  onTestFinished(() => client.close())
  return { client, refused }
}

const failsWith = (fault: OutboundFault) =>
  expect.objectContaining({ name: 'OutboundError', fault })
const at =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })))

describe('a name is believed only for the connection it was resolved for (sec-S3)', () => {
  it('a name that answers with the loopback is not dialled', async () => {
    const target = await site((_, response) => response.end('secret'))
    const { client, refused } = outbound({ allow: [`*:${target.port}`], resolve: at('127.0.0.1') })
    const url = `http://rebind.example.com:${target.port}/`
    await expect(client.request({ url })).rejects.toEqual(failsWith('unreachable'))
    expect(target.connections).toBe(0)
    expect(refused.map(({ host, address }) => [host, address])).toEqual([
      ['rebind.example.com', '127.0.0.1'],
    ])
  })

  it('a name that changes its answer between two requests is checked both times', async () => {
    const target = await site((_, response) => {
      response.setHeader('connection', 'close').end('ok')
    })
    const answers = ['127.0.0.1', '127.0.0.2']
    const { client } = outbound({
      allow: [`*:${target.port}`, `127.0.0.1:${target.port}`],
      resolve: host => at(answers.shift()!)(host),
    })
    const url = `http://rebind.example.com:${target.port}/`
    expect((await client.request({ url })).status).toBe(200)
    await expect(client.request({ url })).rejects.toEqual(failsWith('unreachable'))
    expect(target.asked).toHaveLength(1)
  })

  it('one internal address among public ones refuses the name', async () => {
    const target = await site((_, response) => response.end('secret'))
    const { client, refused } = outbound({
      allow: [`*:${target.port}`],
      resolve: at('93.184.216.34', '::ffff:127.0.0.1'),
    })
    const url = `http://mixed.example.com:${target.port}/`
    await expect(client.request({ url })).rejects.toEqual(failsWith('unreachable'))
    expect(refused).toHaveLength(1)
    expect(target.connections).toBe(0)
  })

  it('a name the operator trusts is dialled wherever it is, with its own Host', async () => {
    const target = await site((_, response) => response.end('ok'))
    const { client } = outbound({
      allow: [`hooks.internal:${target.port}`],
      resolve: at('127.0.0.1'),
    })
    const answer = await client.request({ url: `http://hooks.internal:${target.port}/a` })
    expect(answer.body.toString()).toBe('ok')
    expect(target.asked[0]!.headers.host).toBe(`hooks.internal:${target.port}`)
  })

  it('closed, blocked and unknown look the same to a job (sec-S8)', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    const closed = outbound({ allow: [`127.0.0.1:${port}`] }).client
    const blocked = outbound({ allow: [`*:${port}`], resolve: at('127.0.0.1') }).client
    const unknown = outbound({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }).client
    const messages = await Promise.all([
      closed.request({ url: `http://127.0.0.1:${port}/` }).catch(String),
      blocked.request({ url: `http://a.example.com:${port}/` }).catch(String),
      unknown.request({ url: 'http://b.example.com/' }).catch(String),
    ])
    expect(new Set(messages)).toEqual(
      new Set(['OutboundError: the host cannot be reached or is not allowed']),
    )
  })
})

describe('redirects are followed by hand (sec-S4)', () => {
  const redirecting = (status: number, location: (origin: string) => string) =>
    site(({ path }, response, { origin }) => {
      if (path === '/end') response.end('there')
      else response.writeHead(status, { location: location(origin) }).end()
    })

  it('without being asked to, a redirect is the answer', async () => {
    const from = await redirecting(302, origin => `${origin}/end`)
    const { client } = outbound({ allow: [`127.0.0.1:${from.port}`] })
    const answer = await client.request({ url: `${from.origin}/` })
    expect([answer.status, from.asked.length]).toEqual([302, 1])
  })

  it.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/',
    'http://[::1]/',
    'http://0x7f000001/',
    'file:///etc/passwd',
    'http://user:pw@example.com/',
    'http://localhost/',
  ])('a redirect to %s is refused', async location => {
    const from = await redirecting(302, () => location)
    const { client } = outbound({ allow: [`127.0.0.1:${from.port}`] })
    const asked = client.request({ url: `${from.origin}/`, redirects: 5 })
    await expect(asked).rejects.toEqual(failsWith('refused'))
  })

  it('a redirect to a name that turns out to be the loopback reaches nobody', async () => {
    const inner = await site((_, response) => response.end('secret'))
    const from = await redirecting(307, () => `http://rebind.example.com:${inner.port}/`)
    const { client } = outbound({
      allow: [`127.0.0.1:${from.port}`, `*:${inner.port}`],
      resolve: at('127.0.0.1'),
    })
    const asked = client.request({
      url: `${from.origin}/`,
      method: 'POST',
      body: 'x',
      redirects: 3,
    })
    await expect(asked).rejects.toEqual(failsWith('unreachable'))
    expect(inner.connections).toBe(0)
  })

  it('stops after the allowed number', async () => {
    const from = await redirecting(302, origin => `${origin}/again`)
    const { client } = outbound({ allow: [`127.0.0.1:${from.port}`] })
    const asked = client.request({ url: `${from.origin}/`, redirects: 3 })
    await expect(asked).rejects.toEqual(failsWith('redirects'))
    expect(from.asked).toHaveLength(4)
  })

  it('keeps credentials within the origin and drops them outside', async () => {
    const other = await site((_, response) => response.end('other'))
    const from = await site(({ path }, response, { origin }) => {
      const to = path === '/a' ? `${origin}/b` : `${other.origin}/c`
      response.writeHead(307, { location: to }).end()
    })
    const { client } = outbound({
      allow: [`127.0.0.1:${from.port}`, `127.0.0.1:${other.port}`],
    })
    const headers = { Authorization: 'Bearer canary', 'X-Key': 'canary', Accept: 'text/plain' }
    await client.request({ url: `${from.origin}/a`, headers, redirects: 3 })
    expect(from.asked.map(one => one.headers.authorization)).toEqual([
      'Bearer canary',
      'Bearer canary',
    ])
    expect(JSON.stringify(other.asked[0]!.headers)).not.toContain('canary')
    expect(other.asked[0]!.headers.accept).toBe('text/plain')
  })

  it('turns a POST into a GET where the status says so', async () => {
    const seen = async (status: number) => {
      const from = await redirecting(status, origin => `${origin}/end`)
      const { client } = outbound({ allow: [`127.0.0.1:${from.port}`] })
      await client.request({ url: `${from.origin}/`, method: 'POST', body: 'hello', redirects: 1 })
      return [from.asked[1]!.method, from.asked[1]!.body]
    }
    expect(await seen(303)).toEqual(['GET', ''])
    expect(await seen(302)).toEqual(['GET', ''])
    expect(await seen(308)).toEqual(['POST', 'hello'])
  })
})

describe('size and time are bounded (sec-S7)', () => {
  const fetchWith = async (
    limits: Partial<OutboundLimits>,
    answer: Parameters<typeof site>[0],
    more: object = {},
  ) => {
    const from = await site(answer)
    const { client } = outbound({ allow: [`127.0.0.1:${from.port}`], limits })
    return client.request({ url: `${from.origin}/`, ...more })
  }

  it('an endless body is an error, or cut where that is asked for', async () => {
    const endless: Parameters<typeof site>[0] = (_, response) => {
      const more = () => {
        while (response.write('x'.repeat(1_000)));
        response.once('drain', more)
      }
      more()
    }
    await expect(fetchWith({ bodyBytes: 10_000 }, endless)).rejects.toEqual(failsWith('too-large'))
    const cut = await fetchWith({ bodyBytes: 10_000 }, endless, { overflow: 'cut' })
    expect([cut.body.length, cut.isCut]).toEqual([10_000, true])
  })

  it.each([
    ['gzip', gzipSync],
    [
      'br',
      (bytes: Buffer) =>
        brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
    ],
  ] as const)('a %s body is counted as it unfolds', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(50_000_000))
    expect(bomb.length).toBeLessThan(60_000)
    const asked = fetchWith({ bodyBytes: 1_000_000 }, (_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
    })
    await expect(asked).rejects.toEqual(failsWith('too-large'))
  })

  it('a compressed body of ordinary size is read', async () => {
    const answer = await fetchWith({}, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello'))
    })
    expect(answer.body.toString()).toBe('hello')
  })

  it.each(['gzip, gzip', 'zstd'])('a body encoded as %s was not asked for', async encoding => {
    const asked = fetchWith({}, (_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('hello')
    })
    await expect(asked).rejects.toEqual(failsWith('protocol'))
  })

  it('a broken compressed body is an answer that cannot be understood', async () => {
    const asked = fetchWith({}, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all')
    })
    await expect(asked).rejects.toEqual(failsWith('protocol'))
  })

  it('headers of more than 16 KiB are an error', async () => {
    const asked = fetchWith({}, (_, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end()
    })
    await expect(asked).rejects.toEqual(failsWith('too-large'))
  })

  it('a host that says nothing runs into the time to first byte', async () => {
    const asked = fetchWith({ firstByteMs: 50 }, () => {})
    await expect(asked).rejects.toEqual(failsWith('timeout'))
  })

  it('a host that drips runs into the total time', async () => {
    const asked = fetchWith({ totalMs: 100 }, (_, response) => {
      const drip = setInterval(() => response.write('x'), 10)
      response.on('close', () => clearInterval(drip))
    })
    await expect(asked).rejects.toEqual(failsWith('timeout'))
  })

  it('the caller\u2019s own abort is passed on with its reason', async () => {
    const controller = new AbortController()
    const asked = fetchWith({}, () => controller.abort(new Error('cancelled')), {
      signal: controller.signal,
    })
    await expect(asked).rejects.toThrow('cancelled')
  })

  it('only so many requests are under way at once', async () => {
    let open = 0
    let most = 0
    const from = await site(async (_, response) => {
      most = Math.max(most, ++open)
      await new Promise(resolve => setImmediate(resolve))
      open--
      response.end()
    })
    const { client } = outbound({ allow: [`127.0.0.1:${from.port}`], limits: { requestsMax: 3 } })
    const all = Array.from({ length: 30 }, () => client.request({ url: from.origin }))
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(30).fill(200))
    expect(most).toBeLessThanOrEqual(3)
  })

  it('S3: one tenant has nine tenths of them, however many hosts it calls', async () => {
    const silent = await site(() => {})
    const quick = await site((_, response) => response.end('here'))
    const allow = [`127.0.0.1:${silent.port}`, `127.0.0.1:${quick.port}`]
    const { client } = outbound({ allow, limits: { requestsMax: 10, connectionsPerHost: 100 } })
    const leaves = Array.from({ length: 30 }, () => new AbortController())
    const hanging = Promise.allSettled(
      leaves.map(({ signal }) => client.request({ url: silent.origin, tenant: 'acme', signal })),
    )
    await eventually('nine requests', () => silent.asked.length === 9 || null)
    const answer = await client.request({ url: quick.origin, tenant: 'globex' })
    expect(answer.body.toString()).toBe('here')
    expect(silent.asked).toHaveLength(9)
    for (const leave of leaves) leave.abort()
    await hanging
  })
})

describe('nothing around the client changes where it goes (sec-S6)', () => {
  it('proxy variables of the environment are not looked at', async () => {
    const proxy = await site((_, response) => response.end('proxy'))
    const target = await site((_, response) => response.end('target'))
    const before = process.env.HTTP_PROXY
    process.env.HTTP_PROXY = proxy.origin
    process.env.http_proxy = proxy.origin
    onTestFinished(() => {
      if (before === undefined) delete process.env.HTTP_PROXY
      else process.env.HTTP_PROXY = before
      delete process.env.http_proxy
    })
    const { client } = outbound({ allow: [`127.0.0.1:${target.port}`] })
    expect((await client.request({ url: target.origin })).body.toString()).toBe('target')
    expect(proxy.asked).toEqual([])
  })
})
