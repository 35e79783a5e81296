// Handlers in processes and threads of their own: what they do wrong stays with them.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isolatedHandler } from '../../src/actions/isolate/handler.ts'
import type { IsolationOptions } from '../../src/actions/isolate/isolate.ts'
import type { SpecInput } from '../../src/core/spec.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { eager, startNode } from './node.ts'
import { eventually } from '../support/servers/wait.ts'

const folder = mkdtempSync(join(tmpdir(), 'carillon-isolate-'))
const module = join(folder, 'isolated.js')
const entry = pathToFileURL(join(folder, 'entry.js'))

/** As published: JavaScript that Node reads by itself, without the second a loader takes each time. */
beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: true,
      outDir: folder,
      rollupOptions: {
        input: {
          entry: source('../../src/actions/isolate/entry.ts'),
          watchdog: source('../../src/actions/isolate/watchdog.ts'),
          isolated: source('./handlers/isolated.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const once = { ...eager, limit: 0 }

interface Target extends Partial<IsolationOptions> {
  readonly export?: string
}

async function running(target: Target, spec: Partial<SpecInput> = {}) {
  const { export: name = 'default', kind = 'process', ...options } = target
  const handler = isolatedHandler(
    { module: pathToFileURL(module).href, path: [name] },
    { clock: systemClock, kind, entry, execArgv: [], graceMs: 300, ...options },
  )
  const beside: number[] = []
  const node = await startNode(
    new Map([
      ['isolated', handler],
      ['beside', () => beside.push(systemClock.now())],
    ]),
    { abortGraceMs: 5_000 },
  )
  const job = await node.create({ handler: 'isolated', retry: once, ...spec })
  return { node, job, beside }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.each(['process', 'thread'] as const)('a handler in a %s', where => {
  it('has a context like any other, and its words arrive', async () => {
    const { node, job } = await running({ kind: where }, { payload: { a: 1 } })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({
      outcome: 'succeeded',
      result: { input: { a: 1 }, run: `${job.id}.1`, attempt: 1, isNumber: true },
      measures: { items: 3 },
    })
    expect(node.logged).toMatchObject([{ message: 'working', fields: { input: { a: 1 } } }])
  })

  it('finds its checkpoint in the next attempt', async () => {
    const { node } = await running({ kind: where, export: 'resumes' }, { retry: eager })
    const [first, second] = await node.attempts(2)
    expect(first!.error?.message).toBe('not yet')
    expect(second!.result).toEqual({ from: { page: 7 } })
  })

  it('that blocks for ever neither stops the node nor outlives its timeout (inv-E8)', async () => {
    const { node, beside } = await running({ kind: where, export: 'blocks' }, { timeoutMs: 3_000 })
    await eventually(
      'the block',
      () => node.logged.some(({ message }) => message === 'blocking') || null,
    )
    await node.create({ handler: 'beside' })
    await eventually('another job to run meanwhile', () => beside.length === 1 || null)
    await eventually('the timeout', () => node.settled.length === 2 || null)
    expect(node.settled[1]!.attempt.outcome).toBe('timedOut')
  })

  it('that listens is told why it should stop', async () => {
    const { node, job } = await running({ kind: where, export: 'listens' })
    await eventually('the handler', () => node.logged.length === 1 || null)
    await node.engine.client.cancel(job.id)
    await eventually('its answer', () => node.logged.length === 2 || null)
    expect(node.logged[1]!.message).toBe('told: cancelled')
  })

  it('that eats memory ends alone, and its failure names the limit (H4)', async () => {
    const { node } = await running({ kind: where, export: 'leaks', memoryMb: 64 })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'failed', reason: 'memory_limit' })
    expect(attempt!.error?.message).toMatch(/^memory limit exceeded: .*, memoryMb is 64$/)
  })

  it('that exceeds its CPU time ends alone, and its failure names the limit (H4)', async () => {
    const { node } = await running({ kind: where, export: 'blocks', cpuSeconds: 1 })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'failed', reason: 'cpu_limit' })
    expect(attempt!.error?.message).toMatch(
      /^cpu limit exceeded: it used \d+(\.\d+)? s, cpuSeconds is 1$/,
    )
    const { cpu_time_ms: cpu } = attempt!.measures as { cpu_time_ms: number }
    expect(cpu).toBeGreaterThan(1_000)
    expect(cpu).toBeLessThan(10_000)
  })

  it('that speaks on the channel of its process is not heard, and the node goes on (H4)', async () => {
    const { node } = await running({ kind: where, export: 'speaksUp' })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'succeeded', result: 'done' })
  })

  it('that logs without a pause keeps its first and last lines (H5)', async () => {
    const { node } = await running({ kind: where, export: 'chatters' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.error?.message).toBe('too much')
    const { items } = await node.engine.store.log(attempt!.id, { limit: 1_000 })
    expect(items[0]!.message).toBe('line 1')
    expect(items.at(-1)!.message).toBe('line 50000')
    const leftOut = Number(items[500]!.fields!['left_out'])
    expect(leftOut + items.length - 1).toBe(50_000)
  })

  it('keeps what it printed before it returned', async () => {
    const { node } = await running({ kind: where, export: 'prints' })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'succeeded', result: 'done' })
    expect(node.logged).toMatchObject([{ message: 'the last words' }])
  })

  it.each(['exits', 'crashes'])('that %s fails its attempt', async name => {
    const { node } = await running({ kind: where, export: name })
    const [attempt] = await node.attempts(1)
    expect(attempt!.error?.message).toContain('the isolated handler ended without a result')
  })

  it('may say more than that it failed', async () => {
    const thrown = async (payload: string) => {
      const { node } = await running({ kind: where, export: 'throws' }, { payload, retry: eager })
      await node.attempts(1)
      return node.settled[0]!
    }
    expect((await thrown('NoRetry')).job.state).toBe('failed')
    expect((await thrown('EndJob')).attempt.error).toMatchObject({ name: 'EndJob' })
    expect((await thrown('Skip')).attempt).toMatchObject({ outcome: 'skipped' })
    const later = await thrown('RetryAfter')
    expect(later.job.dueAt! - later.attempt.finishedAt).toBe(90_000)
    const plain = (await thrown('other')).attempt.error
    expect(plain).toMatchObject({ name: 'TypeError', message: 'plain' })
    expect(plain!.stack).toContain('isolated.js')
  })

  it('that returns what is no JSON succeeds without a result; one that is not there fails', async () => {
    const circular = await running({ kind: where, export: 'circular' })
    const [attempt] = await circular.node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'succeeded', result: null, reason: 'result_omitted' })
    const missing = await running({ kind: where, export: 'nowhere' })
    expect((await missing.node.attempts(1))[0]!.error?.message).toContain('exports no function')
  })
})

describe('a process of its own', () => {
  it('is measured: CPU time and largest memory', async () => {
    const { node } = await running({ kind: 'process' })
    const [attempt] = await node.attempts(1)
    const { cpu_time_ms: cpu, memory_peak_mb: peak } = attempt!.measures as {
      cpu_time_ms: number
      memory_peak_mb: number
    }
    expect(cpu).toBeGreaterThan(5)
    expect(cpu).toBeLessThan(20_000)
    expect(peak).toBeGreaterThan(20)
    expect(peak).toBeLessThan(2_000)
  })

  it('may not hold more outside the heap of V8 either (H4)', async () => {
    const { node } = await running({ export: 'holdsBuffers', memoryMb: 100 })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'failed', reason: 'memory_limit' })
    const { memory_peak_mb: peak } = attempt!.measures as { memory_peak_mb: number }
    expect(peak).toBeGreaterThan(100)
  })

  it('is measured by itself, however much memory the node holds (H4)', async () => {
    const held = Buffer.alloc(300 * 1_048_576, 1)
    const { node } = await running({ export: 'prints' })
    const [attempt] = await node.attempts(1)
    expect(held.length).toBeGreaterThan(0)
    expect(attempt!.measures!['memory_peak_mb']).toBeLessThan(200)
  })

  it('that is ended for its timeout is measured too', async () => {
    const { node } = await running({ export: 'blocks' }, { timeoutMs: 1_500 })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('timedOut')
    expect(attempt!.measures!['cpu_time_ms']).toBeGreaterThan(0)
    expect(attempt!.measures!['memory_peak_mb']).toBeGreaterThan(20)
  })

  it('is gone when its handler is done, whatever that left running', async () => {
    const { node } = await running({ kind: 'process', export: 'lingers' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('succeeded')
    await eventually('the process to end', () => !isAlive(Number(attempt!.result)) || null)
  })
})

describe('a thread', () => {
  it('is not said to have used memory, which cannot be told apart', async () => {
    const { node } = await running({ kind: 'thread' })
    const [attempt] = await node.attempts(1)
    expect(attempt!.measures).not.toHaveProperty('memory_peak_mb')
  })
})
