// A Redis server that loses everything under running nodes (FLUSHALL) and gets it back from its log,
// as an operator would do it. What was acknowledged while everything was gone would be lost then.

import { readdir, readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Random } from '../../simulation/random.ts'
import { askRedis, startRedis, type RedisServer } from '../../support/servers/redis.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { freshNamespace } from '../../support/servers/shared.ts'
import { eventually } from '../../support/servers/wait.ts'
import { after } from '../engine.ts'
import { keep, seed } from './chaos-run.ts'
import { check, type Report } from './check.ts'
import { openDirectly, readStore, settledDown, takeOver } from './evidence.ts'
import { Fleet } from './fleet.ts'
import { readWitness } from './witness.ts'
import { schedules } from './workload.ts'

export interface FlushOptions {
  readonly rounds: number
  readonly nodes: number
  readonly seed: number
  readonly onProgress?: (text: string) => void
}

export interface FlushResult extends Report {
  readonly rounds: number
  readonly kept: string | null
}

const LEASE_MS = 1_000
const WORK_MS = 1_500
const CALM_MS = 60_000
const FLUSH = Buffer.from('*1\r\n$8\r\nFLUSHALL\r\n')

export async function flushRun(options: FlushOptions): Promise<FlushResult> {
  const witness = await scratch('witness')
  const server = await startRedis({ settings: { appendfsync: 'always' } })
  try {
    return await flushing(options, server, witness.folder)
  } finally {
    await server.stop()
    await witness.remove()
  }
}

async function flushing(
  options: FlushOptions,
  server: RedisServer,
  folder: string,
): Promise<FlushResult> {
  const { url } = freshNamespace(server.url)
  const random = new Random(`flush ${options.seed}`)
  const shape = { leaseMs: LEASE_MS, witness: folder, clockFile: null }
  const fleet = new Fleet({
    size: options.nodes,
    shape: { ...shape, taskEveryMs: 60, tickMs: 100, slots: 20 },
    urlFor: () => url,
    skewMaxMs: 0,
    random,
  })
  const seeded = await seedAll(url)
  try {
    await fleet.start()
    for (let round = 1; round <= options.rounds; round++) {
      await after(random.int(WORK_MS / 2, WORK_MS * 2))
      await loseAndRestore(server, random)
      options.onProgress?.(`${round} of ${options.rounds} flushes`)
    }
    // The server answers before it has loaded its log.
    const store = await eventually('the store opens', () => openDirectly(url, systemClock))
    const quietAt = systemClock.now()
    const trouble = await fleet.quiet(CALM_MS)
    const left = await settledDown(store, quietAt, CALM_MS)
    trouble.push(...left, ...(await fleet.stop()), ...fleet.deserters)
    await takeOver(store, LEASE_MS * 5, systemClock)
    const lines = readWitness(folder)
    const dump = await readStore(store, systemClock)
    await store.close()
    const evidence = { ...dump, lines, seeded, quietAt, dead: [], steps: [] }
    const report = check(evidence)
    report.violations.push(...trouble)
    const isClean = [report.lost, report.duplicates, report.violations].flat().length === 0
    return {
      ...report,
      rounds: options.rounds,
      kept: isClean ? null : await keep(evidence, report, []),
    }
  } finally {
    await fleet.end()
  }
}

async function seedAll(url: string): Promise<string[]> {
  const store = await openDirectly(url, systemClock)
  try {
    return await seed(store, schedules(20))
  } finally {
    await store.close()
  }
}

async function loseAndRestore(server: RedisServer, random: Random): Promise<void> {
  await askRedis(server.url, 'FLUSHALL')
  await after(random.int(LEASE_MS, LEASE_MS * 3))
  await server.kill()
  await cutFlush(server.folder)
  await server.start()
}

/** The log as it was before FLUSHALL, the way Redis' own documentation undoes it. */
async function cutFlush(folder: string): Promise<void> {
  const logs = join(folder, 'appendonlydir')
  const names = (await readdir(logs)).filter(name => name.endsWith('.incr.aof')).toSorted()
  const path = join(logs, names.at(-1)!)
  const at = (await readFile(path)).lastIndexOf(FLUSH)
  if (at < 0) throw new Error(`no FLUSHALL in ${path}`)
  await truncate(path, at)
}

export function flushLines(result: FlushResult): string[] {
  const { rounds, occurrences, lost, duplicates, violations, kept } = result
  return [
    ...[...lost, ...duplicates, ...violations].slice(0, 20).map(text => `  ${text}`),
    ...(kept === null ? [] : [`everything seen is in ${kept}`]),
    `redis: ${rounds} flushes, ${occurrences} occurrences checked`,
    `redis: ${duplicates.length} duplicates, ${lost.length} losses, ${violations.length} violations`,
  ]
}
