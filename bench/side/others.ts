// Comparisons of another shape: cron libraries in one process, several nodes, requests to the service.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openSite } from '../http/rig.ts'
import { inFolder } from '../support.ts'
import { each } from './contender.ts'
import { root, type Entry, type Host } from './fleet.ts'
import { startAll } from './mixed.ts'
import type { Sample } from './parts.ts'
import { attempt, best, type Run } from './sections.ts'

interface CronResult {
  readonly name: string
  readonly rounds: readonly number[]
}

export async function cron({ ledger, tell }: Run): Promise<void> {
  tell('cron: all libraries')
  const args = ['--import', 'tsx', join(root, 'bench/cron.ts'), '--json']
  const { stdout, status, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`bench/cron.ts: ${stderr}`)
  const { results } = JSON.parse(stdout) as { results: CronResult[] }
  for (const { name, rounds } of results) {
    const settings = 'five expressions, Europe/Berlin'
    const who = { name, store: 'memory', settings, version: '' } as const
    for (const value of rounds) ledger.add('cron', who, [{ row: 'cron-next', value }])
  }
}

const NODES = [1, 2, 4]
const WARM_UP = 12_500

/** The same backlog on one PostgreSQL, worked off by one, two and four processes. */
export async function nodes(run: Run): Promise<void> {
  const { isQuick, rounds } = run.scale
  const names = new Set(['carillon', 'pg-boss', 'graphile-worker'])
  const entries = run.entries.filter(
    entry => names.has(entry.name) && entry.store === 'postgres' && best(entry),
  )
  for (let round = 0; round <= Math.min(rounds, 3); round++) {
    for (const entry of entries) {
      for (const count of NODES) {
        const jobs = isQuick || round === 0 ? 4_000 : 50_000
        const samples = await attempt(run, entry, () => together(run, entry, count, jobs))
        if (samples && round > 0) run.ledger.add('nodes', entry, samples)
      }
    }
  }
}

const together = (run: Run, entry: Entry, count: number, jobs: number): Promise<Sample[]> =>
  run.servers.fresh(entry.store, async url => {
    run.tell(`nodes: ${count} of ${entry.name}`)
    const order = {
      place: { url, purpose: 'throughput' as const },
      serverPid: null,
      count: jobs,
      more: {},
    }
    const hosts: Host[] = []
    try {
      for (let i = 0; i < count; i++) hosts.push(await run.fleet.another(entry.module))
      // New processes: each runs jobs first, as many as before the other rounds, while nobody counts.
      for (const host of hosts) await host.measure('jobs', entry.at, { ...order, count: WARM_UP })
      await hosts[0]!.fill(entry.at, order)
      await Promise.all(hosts.map(host => host.ready(entry.at, order)))
      const from = performance.now()
      await startAll(hosts, jobs)
      await Promise.all(hosts.map(host => host.finish()))
      const ms = performance.now() - from
      return [{ row: `nodes-${count}`, value: (jobs / ms) * 1_000 }]
    } finally {
      for (const host of hosts) await host.end()
    }
  })

const CONNECTIONS = 20

/** What the service answers; the peers have no HTTP interface of their own. */
export async function api(run: Run): Promise<void> {
  const { isQuick, rounds } = run.scale
  const count = isQuick ? 200 : 4_000
  for (const entry of run.entries.filter(one => one.name === 'carillon' && best(one))) {
    await attempt(run, entry, async () => {
      await run.servers.fresh(entry.store, url =>
        inFolder(async folder => {
          const site = await openSite(folder, url)
          try {
            for (let round = 0; round <= rounds; round++) {
              run.tell(`api: ${entry.store}`)
              const samples = await requests(site, round === 0 ? Math.ceil(count / 4) : count)
              if (round > 0) run.ledger.add('api', entry, samples)
            }
          } finally {
            await site.stop()
          }
        }),
      )
      return []
    })
  }
}

type Site = Awaited<ReturnType<typeof openSite>>

function expect(status: number, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}`)
}

async function requests(site: Site, count: number): Promise<Sample[]> {
  const made: string[] = []
  const timed = async (row: string, call: (i: number) => Promise<void>): Promise<Sample> => {
    const cpu = site.cpuMs()
    const from = performance.now()
    await each(count, CONNECTIONS, call)
    const ms = performance.now() - from
    // The service is the server here; the database behind it is not counted.
    return { row, value: (count / ms) * 1_000, server: (site.cpuMs() - cpu) / ms }
  }
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const posted = await timed('api-post', async () => {
    const { status, body } = await site.post('/api/v1/jobs', {
      handler: 'noop',
      trigger: { at: later },
    })
    expect(status, 201)
    made.push(String(body['id']))
  })
  const got = await timed('api-get', async i => {
    expect((await site.get(`/api/v1/jobs/${made[i]!}`)).status, 200)
  })
  return [posted, got]
}
