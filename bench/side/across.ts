// From one process to another: how long after it was asked for a job starts, one at a time and under a
// steady load, and what the two processes cost while nothing happens.

import { percentile } from '../support.ts'
import type { Entry, Host } from './fleet.ts'
import type { Sample } from './parts.ts'
import { attempt, best, isSlow, type Run } from './sections.ts'
import { serverCpuMs } from './usage.ts'

const SETTLE_MS = 1_000
const IDLE_GAP_MS = 25
const STEADY_PER_SECOND = 500
const HANDLER_MS = 5

export async function across(run: Run): Promise<void> {
  const entries = run.entries.filter(
    entry => entry.store !== 'memory' && best(entry) && !isSlow(entry),
  )
  for (let round = 1; round <= run.scale.rounds; round++) {
    // Whoever goes first would always find the machine as the last one left it.
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      const samples = await attempt(run, entry, () => measure(run, entry))
      if (samples) run.ledger.add('across', entry, samples)
    }
  }
}

interface Pair {
  readonly run: Run
  readonly entry: Entry
  readonly worker: Host
  readonly producer: Host
}

const measure = (run: Run, entry: Entry): Promise<Sample[]> =>
  run.servers.fresh(entry.store, async url => {
    run.tell(`across: ${entry.name} on ${entry.store}`)
    const place = { url, purpose: 'latency' as const }
    const order = { place, serverPid: null, count: 0, more: {} }
    const worker = await run.fleet.another(entry.module)
    const producer = await run.fleet.another(entry.module)
    try {
      // One after the other: the first makes the tables.
      await worker.ready(entry.at, order)
      await producer.ready(entry.at, order)
      await worker.listen(HANDLER_MS)
      return await samplesOf({ run, entry, worker, producer })
    } finally {
      await producer.end()
      await worker.end()
    }
  })

async function samplesOf(pair: Pair): Promise<Sample[]> {
  const { isQuick } = pair.run.scale
  const { worker, producer } = pair
  await producer.produce(isQuick ? 20 : 100, IDLE_GAP_MS)
  await wait(SETTLE_MS)
  await worker.heard()
  const single = await asked(pair, isQuick ? 40 : 200, IDLE_GAP_MS)
  const steady = await asked(pair, isQuick ? 500 : 3_000, 1_000 / STEADY_PER_SECOND)
  const quiet = await spentBy(pair, () => wait(isQuick ? 500 : 3_000))
  return [
    { row: 'across-idle-p50', value: percentile(single.took, 0.5) },
    { row: 'across-idle-p99', value: percentile(single.took, 0.99) },
    { row: 'across-steady-p50', value: percentile(steady.took, 0.5) },
    { row: 'across-steady-p99', value: percentile(steady.took, 0.99) },
    { row: 'across-steady-cpu', value: steady.cpuMsPerSecond },
    { row: 'across-quiet-cpu', value: quiet.cpuMsPerSecond },
    ...(quiet.statementsPerSecond === null
      ? []
      : [{ row: 'across-quiet-statements', value: quiet.statementsPerSecond }]),
  ]
}

async function asked(pair: Pair, count: number, gapMs: number) {
  const { worker, producer } = pair
  const used = await spentBy(pair, () => producer.produce(count, gapMs))
  await wait(SETTLE_MS)
  const took = await worker.heard()
  if (took.length !== count) throw new Error(`${took.length} of ${count} jobs started`)
  return { ...used, took }
}

interface Used {
  /** Of both processes and the server. */
  readonly cpuMsPerSecond: number
  readonly statementsPerSecond: number | null
}

async function spentBy(pair: Pair, work: () => Promise<void>): Promise<Used> {
  const { servers } = pair.run
  const { store } = pair.entry
  const look = async () => {
    const used = await Promise.all([pair.worker.usage(), pair.producer.usage()])
    const processes = used.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
    return processes + serverCpuMs(servers.pid(store))
  }
  const statements = await servers.statements(store)
  const cpu = await look()
  const from = performance.now()
  await work()
  const seconds = (performance.now() - from) / 1_000
  const cpuMs = (await look()) - cpu
  const now = await servers.statements(store)
  const hasCounts = statements !== null && now !== null
  return {
    cpuMsPerSecond: cpuMs / seconds,
    statementsPerSecond: hasCounts ? (now - statements) / seconds : null,
  }
}

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
