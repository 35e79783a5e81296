// Lists of jobs while others run: many jobs in the store, some of them due every second.

import { HOUR, SECOND } from '../../src/core/time.ts'
import { jobs, makeRig } from '../engine/rig.ts'
import { inFolder, percentile, type Figure } from '../support.ts'
import type { Ground } from '../ground.ts'
import { openSite, type Site } from './rig.ts'

export interface Size {
  readonly jobs: number
  readonly runsPerSecond: number
  readonly seconds: number
  readonly requestsPerSecond: number
}

const LIST_MAX_MS = 50
const WARM_UP_SECONDS = 5

/** What is asked for, each as often as the others. */
const paths = [
  ['/api/v1/jobs', 'newest first'],
  ['/api/v1/jobs?status=scheduled', 'status=scheduled'],
  ['/api/v1/jobs?status=pending', 'status=pending'],
  ['/api/v1/jobs?status=running,failed', 'status=running,failed'],
  ['/api/v1/jobs?limit=250&offset=5000', 'limit=250&offset=5000'],
] as const

export function lists(ground: Ground, size: Size): Promise<Figure[]> {
  return ground.fresh(url =>
    inFolder(async folder => {
      await fill(url, size)
      const site = await openSite(folder, url)
      try {
        // The first seconds belong to a process that is still being compiled.
        await asked(site, { ...size, seconds: WARM_UP_SECONDS })
        const before = await site.settled()
        const spent = site.cpuMs()
        const from = performance.now()
        const seen = await asked(site, size)
        const runs = (await site.settled()) - before
        const tookMs = performance.now() - from
        const load = { runs: (runs * 1_000) / tookMs, busy: (site.cpuMs() - spent) / tookMs }
        return figuresOf(seen, size, load)
      } finally {
        await site.stop()
      }
    }),
  )
}

/** The busy ones run every second, spread over it; the others wait longer than is measured. */
async function fill(url: string, { jobs: count, runsPerSecond }: Size): Promise<void> {
  const engine = await makeRig(url)
  const now = engine.clock.now()
  const made = jobs(count, i => {
    const isBusy = (i * runsPerSecond) % count < runsPerSecond
    const everyMs = isBusy ? SECOND : 6 * HOUR
    const anchor = now + (isBusy ? Math.floor((i * runsPerSecond) / count) % SECOND : everyMs / 2)
    return { name: `job ${i}`, trigger: { kind: 'interval', everyMs, from: 'schedule', anchor } }
  })
  await engine.client.create(made.map(job => ({ ...job, kind: 'job' as const })))
  await engine.store.close()
}

/** Sent by the clock, whether the last one was answered or not: a stall counts for all it delays. */
async function asked(site: Site, { seconds, requestsPerSecond }: Size) {
  const gap = 1_000 / requestsPerSecond
  const seen = new Map<string, number[]>(paths.map(([, name]) => [name, []]))
  const open: Promise<void>[] = []
  const from = performance.now()
  for (let i = 0; i < seconds * requestsPerSecond; i++) {
    const planned = from + i * gap
    const wait = planned - performance.now()
    if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
    const [path, name] = paths[i % paths.length]!
    const ask = async () => {
      const { status, body } = await site.get(path)
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
      seen.get(name)!.push(performance.now() - planned)
    }
    open.push(ask())
  }
  await Promise.all(open)
  return seen
}

interface Load {
  /** Each second. */
  readonly runs: number
  /** The share of a processor the service took. */
  readonly busy: number
}

function figuresOf(seen: Map<string, number[]>, size: Size, { runs, busy }: Load): Figure[] {
  const all = [...seen.values()].flat()
  const bar = { unit: 'ms', target: LIST_MAX_MS, lowerIsBetter: true }
  return [
    { name: 'runs executed meanwhile', value: runs, unit: '/s', target: size.runsPerSecond * 0.9 },
    { name: 'a processor of the service is busy for', value: busy * 100, unit: '%' },
    { name: 'GET /api/v1/jobs, p50 of all', value: percentile(all, 0.5), unit: 'ms' },
    { name: 'GET /api/v1/jobs, p99 of all', value: percentile(all, 0.99), ...bar },
    ...[...seen].map(([name, values]) => ({
      name: `  ${name}, p99`,
      value: percentile(values, 0.99),
      ...bar,
      note: `max ${Math.round(Math.max(...values))} ms`,
    })),
  ]
}
