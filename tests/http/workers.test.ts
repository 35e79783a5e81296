// D6: workers as processes of their own against a service that is one: Python, and the helper.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createWorker, GiveUp, type Worker, type WorkerOptions } from '../../src/worker/index.ts'
import {
  callAt,
  mintedFor,
  SERVE_SECRET,
  serveIn,
  type Call,
  type Serving,
} from '../support/carillon.ts'
import { eventually } from '../support/servers/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'carillon-workers-'))
let serving: Serving
let call: Call
let token = ''

beforeAll(async () => {
  const env = { CARILLON_JWT_SECRET: SERVE_SECRET }
  serving = await serveIn(folder, { env, args: ['--store', 'memory:'] })
  call = await callAt(serving)
  token = await mintedFor('default', 'operator')
})
afterAll(async () => {
  await serving.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function push(queue: string, payloads: readonly unknown[]): Promise<string[]> {
  const tasks = payloads.map((payload, i) => ({ user_id: `u${i % 2}`, queue, payload }))
  const { status, body } = await call('POST', '/api/v1/tasks/batch', { tasks })
  expect(status).toBe(201)
  return (body.tasks as { id: string }[]).map(({ id }) => id)
}

const task = async (id: string) => (await call('GET', `/api/v1/tasks/${id}`)).body

async function untilStatus(id: string, status: string) {
  return eventually(`task ${id} is ${status}`, async () => {
    const found = await task(id)
    return found.status === status ? found : null
  })
}

function helper(
  queue: string,
  options: Pick<WorkerOptions, 'run'> & Partial<WorkerOptions>,
): Worker {
  const usual = { url: serving.address, token, name: 'helper', queues: [queue], onError: () => {} }
  const worker = createWorker({ ...usual, ...options }).start()
  onTestFinished(async () => void (await worker.stop({ graceMs: 0 })))
  return worker
}

async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { authorization = '' } = request.headers
  const answer = await fetch(`${serving.address}${request.url}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: Buffer.concat(chunks),
  })
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}

test('the Python worker has 40 lines, does tasks, and tells what fails', async () => {
  const script = fileURLToPath(new URL('../../examples/workers/worker.py', import.meta.url))
  expect(readFileSync(script, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40)
  const env = { ...process.env, CARILLON_URL: serving.address, CARILLON_TOKEN: token }
  const python = spawn('python3', [script], { env, stdio: 'inherit' })
  onTestFinished(() => void python.kill('SIGKILL'))
  const ids = await push('default', [{ text: 'four' }, { text: 'zwölf' }, { nothing: 1 }])
  await untilStatus(ids[0]!, 'completed')
  await untilStatus(ids[1]!, 'completed')
  const failed = await eventually('a failure is told', async () => {
    const found = await task(ids[2]!)
    return found.error === null ? null : found
  })
  expect(failed).toMatchObject({ error: "KeyError('text')", status: 'scheduled', attempts: 1 })
  const { body } = await call('GET', `/api/v1/runs/${ids[1]!}.1`)
  expect(JSON.stringify(body)).toContain('"length":5')
})

test('the helper runs several at once and stops when they are done', async () => {
  const inside = new Set<string>()
  let most = 0
  const doors: (() => void)[] = []
  const worker = helper('several', {
    concurrency: 3,
    run: async (_, { task: { id } }) => {
      inside.add(id)
      most = Math.max(most, inside.size)
      await new Promise<void>(resolve => doors.push(resolve))
      inside.delete(id)
      return id
    },
  })
  const ids = await push('several', [1, 2, 3, 4, 5])
  await eventually('three run', () => (doors.length === 3 ? true : null))
  for (const open of doors.splice(0)) open()
  await eventually('two more run', () => (doors.length === 2 ? true : null))
  const stopped = worker.stop()
  for (const open of doors.splice(0)) open()
  expect(await stopped).toBe(true)
  expect(most).toBe(3)
  for (const id of ids) expect(await task(id)).toMatchObject({ status: 'completed' })
})

test('the helper keeps its lease, tells progress, and ends what is cancelled', async () => {
  let reason: unknown = null
  helper('long', {
    leaseSeconds: 5,
    run: (_, { signal, progress, checkpoint }) => {
      progress(0.25, 'begun')
      checkpoint({ page: 1 })
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason
          reject(new Error('aborted'))
        })
      })
    },
  })
  const [id] = await push('long', [1])
  const first = await untilStatus(id!, 'running')
  const renewed = await eventually('the lease is renewed', async () => {
    const found = await task(id!)
    return found.lease_until === first.lease_until ? null : found
  })
  expect(renewed).toMatchObject({ status: 'running', worker: 'helper' })
  await call('POST', `/api/v1/tasks/${id}/cancel`)
  await eventually('the task is aborted', () => (reason === null ? null : true))
  expect(reason).toMatchObject({ name: 'Refused', status: 409 })
  expect(await task(id!)).toMatchObject({ status: 'cancelled' })
})

test('a stop that waited long enough gives tasks back, and another worker goes on', async () => {
  const worker = helper('left', { run: () => new Promise(() => {}) })
  const [id] = await push('left', [1])
  await untilStatus(id!, 'running')
  expect(await worker.stop({ graceMs: 10 })).toBe(false)
  helper('left', { name: 'second', run: () => 'done' })
  expect(await untilStatus(id!, 'completed')).toMatchObject({ attempts: 2 })
})

test('a task that is given up is not tried again', async () => {
  helper('hopeless', {
    run: () => {
      throw new GiveUp('no such page')
    },
  })
  const [id] = await push('hopeless', [1])
  expect(await untilStatus(id!, 'failed')).toMatchObject({ error: 'no such page', attempts: 1 })
})

test('an outage slows the helper down and never ends it; a bad token does', async () => {
  let requests = 0
  let isDown = true
  const proxy = createServer((request, response) => {
    requests++
    if (isDown) {
      response.writeHead(503, { 'retry-after': '0' }).end('{}')
      return
    }
    void relay(request, response).catch(() => response.destroy())
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  helper('outage', { url, waitSeconds: 1, run: () => 'done' })
  await eventually('it tries again', () => (requests >= 3 ? true : null))
  isDown = false
  const [id] = await push('outage', [1])
  await untilStatus(id!, 'completed')
  const refused = helper('outage', { token: 'wrong', run: () => null })
  await expect(refused.finished).rejects.toMatchObject({ name: 'Refused', status: 401 })
})
