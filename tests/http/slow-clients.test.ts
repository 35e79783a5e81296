// Connections that dawdle or speak nonsense, on a real socket (S6).

import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { receiveLimits } from '../../src/service/http/app/client-errors.ts'
import { httpDefaults } from '../../src/service/http/app/settings.ts'
import { startService } from './service.ts'

async function dial(requestTimeoutMs: number): Promise<Socket> {
  const s = await startService({ works: false, http: { requestTimeoutMs } })
  await s.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = s.app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Everything that comes until the other side closes. */
async function heard(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
  await new Promise<void>(resolve => socket.once('close', () => resolve()))
  return text
}

/** A piece every few milliseconds, for as long as anybody listens. */
function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => void (socket.writable && socket.write(piece)), 10)
  socket.once('close', () => clearInterval(timer))
}

function expectProblem(text: string, status: number, slug: string): void {
  const [head, body] = text.split('\r\n\r\n') as [string, string]
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toContain('Content-Type: application/problem+json')
  expect(head).toContain('X-Content-Type-Options: nosniff')
  expect(head).toContain("Content-Security-Policy: default-src 'none'")
  const problem = JSON.parse(body) as { request_id: string }
  expect(problem).toMatchObject({ type: `/problems/${slug}`, status })
  expect(head).toContain(`X-Request-Id: ${problem.request_id}`)
}

it('S6 headers that never end are ended with 408', async () => {
  const socket = await dial(600)
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
  drip(socket, 'X-Slow: 1\r\n')
  expectProblem(await heard(socket), 408, 'request-timeout')
})

it('S6 a body that comes byte by byte is ended with 408', async () => {
  const socket = await dial(600)
  const head = [
    'POST /api/v1/session HTTP/1.1',
    'Host: localhost',
    'Sec-Fetch-Site: same-origin',
    'Content-Type: application/json',
    'Content-Length: 100000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  drip(socket, ' ')
  expectProblem(await heard(socket), 408, 'request-timeout')
})

it('S6 what is no HTTP is told so in the same form', async () => {
  const socket = await dial(30_000)
  socket.write('NONSENSE\r\n\r\n')
  expectProblem(await heard(socket), 400, 'malformed-request')
})

it('S6 with default settings both end within 30 s, whenever Node looks', () => {
  const limits = receiveLimits(httpDefaults.requestTimeoutMs)
  const { headersTimeout, requestTimeout, connectionsCheckingInterval: look } = limits
  expect(Math.max(headersTimeout, requestTimeout) + look).toBe(30_000)
  expect(look).toBeLessThanOrEqual(1_000)
})

it('S6 the server has these limits', async () => {
  const s = await startService({ works: false })
  const { headersTimeout, requestTimeout } = s.app.server
  expect({ headersTimeout, requestTimeout }).toEqual({
    headersTimeout: 29_000,
    requestTimeout: 29_000,
  })
})

it('S6 /metrics is open to this machine by its own names only', async () => {
  const s = await startService({ works: false })
  const status = async (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
    (await s.app.inject({ url: '/metrics', headers, remoteAddress })).statusCode
  expect(await status({ host: '127.0.0.1:8060' })).toBe(200)
  expect(await status({ host: 'localhost:8060' })).toBe(200)
  expect(await status({ host: '[::1]:8060' }, '::1')).toBe(200)
  expect(await status({ host: 'evil.test' })).toBe(401)
  expect(await status({ host: 'localhost', origin: 'https://evil.test' })).toBe(401)
  expect(await status({ host: 'localhost', via: '1.1 proxy' })).toBe(401)
  expect(await status({ host: 'localhost' }, '192.0.2.1')).toBe(401)
})
