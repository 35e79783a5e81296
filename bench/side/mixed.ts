// Jobs that differ: inserted by one process, drained by one, two and four others on one store.

import type { Entry, Host, Usage } from './fleet.ts'
import type { Sample } from './parts.ts'
import { attempt, best, isSlow, type Run } from './sections.ts'
import { serverCpuMs } from './usage.ts'

/** Processes on one store; one server takes several, a file is drained by one. */
const PROCESSES = { postgres: [1, 2, 4], redis: [1, 2, 4], sqlite: [1], memory: [] } as const

export async function mixed(run: Run): Promise<void> {
  const { isQuick, rounds } = run.scale
  const jobs = isQuick ? 4_000 : 100_000
  const entries = run.entries.filter(
    entry => entry.store !== 'memory' && best(entry) && !isSlow(entry),
  )
  for (let round = 1; round <= rounds; round++) {
    // Whoever goes first would always find the machine as the last one left it.
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      for (const processes of PROCESSES[entry.store]) {
        const samples = await attempt(run, entry, () => drain(run, entry, { processes, jobs }))
        if (samples) run.ledger.add('mixed', entry, samples)
      }
    }
  }
}

interface Size {
  readonly processes: number
  readonly jobs: number
}

const drain = (run: Run, entry: Entry, { processes, jobs }: Size): Promise<Sample[]> =>
  run.servers.fresh(entry.store, async url => {
    run.tell(`mixed: ${entry.name} on ${entry.store}, processes: ${processes}`)
    const place = { url, purpose: 'throughput' as const }
    const order = { place, serverPid: null, count: jobs, more: {} }
    const filler = await run.fleet.another(entry.module)
    const hosts: Host[] = []
    try {
      const inserted = await filler.fillMixed(entry.at, order)
      await filler.end()
      for (let i = 0; i < processes; i++) hosts.push(await run.fleet.another(entry.module))
      const pid = run.servers.pid(entry.store)
      const server = serverCpuMs(pid)
      const before = await usages(hosts)
      const from = performance.now()
      await Promise.all(hosts.map(host => host.ready(entry.at, order)))
      await startAll(hosts, jobs)
      await Promise.all(hosts.map(host => host.finish()))
      const ms = performance.now() - from
      const after = await usages(hosts)
      const cpuMs = serverCpuMs(pid) - server + cpuOf(after) - cpuOf(before)
      return [
        { row: 'mixed-insert', value: inserted },
        { row: `mixed-drained-${processes}`, value: (jobs / ms) * 1_000 },
        { row: `mixed-cpu-${processes}`, value: cpuMs / jobs },
        ...(processes === 1 ? [{ row: 'mixed-memory', value: after[0]!.rssMb }] : []),
      ]
    } finally {
      for (const host of [filler, ...hosts]) await host.end()
    }
  })

const usages = (hosts: readonly Host[]): Promise<Usage[]> =>
  Promise.all(hosts.map(host => host.usage()))

const cpuOf = (all: readonly Usage[]): number => all.reduce((sum, { cpuMs }) => sum + cpuMs, 0)

/** Resolves once the processes have started so many jobs together. */
export async function startAll(hosts: readonly Host[], jobs: number): Promise<void> {
  const started = new Map<Host, number>()
  const went: Promise<void>[] = []
  await new Promise<void>((resolve, reject) => {
    const onProgress = (host: Host) => (count: number) => {
      started.set(host, count)
      const total = [...started.values()].reduce((sum, value) => sum + value, 0)
      if (total >= jobs) resolve()
    }
    for (const host of hosts) went.push(host.go(onProgress(host)))
    Promise.all(went).catch(reject)
  })
  await Promise.all(went)
}
