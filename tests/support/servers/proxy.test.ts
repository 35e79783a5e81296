// The proxy does each kind of damage, and only while told to.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FaultProxy } from './proxy.ts'
import { eventually } from './wait.ts'

let echo: Server
let heard: string[]
let proxy: FaultProxy
const sockets = new Set<Socket>()

beforeEach(async () => {
  heard = []
  echo = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', bytes => {
      heard.push(bytes.toString())
      socket.write(`re:${bytes.toString()}`)
    })
  })
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  proxy = await FaultProxy.to({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port })
})

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  await proxy.close()
  echo.close()
})

interface Caller {
  readonly socket: Socket
  readonly replies: string[]
  readonly failures: string[]
}

async function call(): Promise<Caller> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port })
  sockets.add(socket)
  const made: Caller = { socket, replies: [], failures: [] }
  socket.on('data', bytes => made.replies.push(bytes.toString()))
  socket.on('error', error => made.failures.push((error as NodeJS.ErrnoException).code ?? ''))
  await new Promise<void>(resolve => {
    socket.once('connect', () => resolve())
    socket.once('close', () => resolve())
  })
  return made
}

const answered = (caller: Caller, text: string) =>
  eventually(`the answer ${text}`, () => (caller.replies.join('').includes(text) ? true : null))

const failed = (caller: Caller) =>
  eventually('the connection ends', () => caller.failures[0] ?? null)

test('it passes on what it gets, both ways', async () => {
  const caller = await call()
  caller.socket.write('a')
  await answered(caller, 're:a')
  expect(proxy.counts).toMatchObject({ connections: 1, resets: 0, cuts: 0 })
})

test('refusing ends what is connected and lets nobody in until it is over', async () => {
  const before = await call()
  await proxy.set({ kind: 'refuse' })
  expect(await failed(before)).toBe('ECONNRESET')
  expect(await failed(await call())).toBe('ECONNREFUSED')
  await proxy.set({ kind: 'pass' })
  const after = await call()
  after.socket.write('b')
  await answered(after, 're:b')
})

test('a reset reaches every connection, and the next one works', async () => {
  const [one, other] = [await call(), await call()]
  await eventually('both are known', () => (proxy.counts.connections === 2 ? true : null))
  expect(proxy.reset()).toBe(2)
  expect([await failed(one), await failed(other)]).toEqual(['ECONNRESET', 'ECONNRESET'])
  const next = await call()
  next.socket.write('c')
  await answered(next, 're:c')
})

test('a black hole swallows requests and gives them out afterwards', async () => {
  const caller = await call()
  caller.socket.write('before')
  await answered(caller, 're:before')
  await proxy.set({ kind: 'blackhole' })
  const late = await call()
  caller.socket.write('during')
  late.socket.write('late')
  // A round trip past the proxy: whatever could have got through has done so by now.
  const direct = connect({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port })
  direct.write('direct')
  await once(direct, 'data')
  direct.destroy()
  expect(heard).toEqual(['before', 'direct'])
  await proxy.set({ kind: 'pass' })
  await answered(caller, 're:during')
  await answered(late, 're:late')
})

test('slow delays each chunk and keeps their order', async () => {
  await proxy.set({ kind: 'slow', delayMs: 40 })
  const caller = await call()
  const began = performance.now()
  caller.socket.write('1')
  caller.socket.write('2')
  caller.socket.write('3')
  await answered(caller, '3')
  expect(performance.now() - began).toBeGreaterThanOrEqual(75)
  expect(heard.join('')).toBe('123')
})

test('nothing overtakes what is still on its way when the mode changes', async () => {
  const caller = await call()
  for (let round = 0; round < 10; round++) {
    await proxy.set({ kind: 'slow', delayMs: 10 })
    caller.socket.write(`<${round}a`)
    await proxy.set(round % 2 === 0 ? { kind: 'pass' } : { kind: 'blackhole' })
    caller.socket.write(`${round}b`)
    await proxy.set({ kind: 'pass' })
    caller.socket.write(`${round}c>`)
  }
  await answered(caller, '9c>')
  const rounds = Array.from({ length: 10 }, (_, i) => `<${i}a${i}b${i}c>`)
  expect(heard.join('')).toBe(rounds.join(''))
})

test('a cut reply means that the request got through', async () => {
  const caller = await call()
  caller.socket.write('a')
  await answered(caller, 're:a')
  proxy.cutReplies()
  caller.socket.write('commit')
  expect(await failed(caller)).toBe('ECONNRESET')
  expect(heard).toEqual(['a', 'commit'])
  expect(caller.replies).toEqual(['re:a'])
  const next = await call()
  next.socket.write('d')
  await answered(next, 're:d')
  expect(proxy.counts.cuts).toBe(1)
})
