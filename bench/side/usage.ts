// Time on processors and memory, of this process and of the server it talks to (where /proc tells).

import { existsSync, readdirSync, readFileSync } from 'node:fs'

const CPU_TICK_MS = 10
const NS_PER_MS = 1e6
const PAGE_BYTES = 4_096
const CALM_MS = 50

interface Stat {
  readonly parent: number
  readonly ownMs: number
  /** Of children that have ended. */
  readonly endedMs: number
  readonly bytes: number
}

function statOf(pid: number): Stat | null {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return null
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ').map(Number)
  return {
    parent: fields[1]!,
    ownMs: (fields[11]! + fields[12]!) * CPU_TICK_MS,
    endedMs: (fields[13]! + fields[14]!) * CPU_TICK_MS,
    bytes: fields[21]! * PAGE_BYTES,
  }
}

/** Of all threads, to the nanosecond where the system tells: an idle server uses less than a tick. */
function ownMs(pid: number, { ownMs: ticks }: Stat): number {
  const folder = `/proc/${pid}/task`
  let total = 0
  for (const thread of readdirSync(folder)) {
    const file = `${folder}/${thread}/schedstat`
    if (!existsSync(file)) return ticks
    total += Number(readFileSync(file, 'utf8').split(' ')[0]) / NS_PER_MS
  }
  return total
}

/** Of the process, its children and those that ended; PostgreSQL has one for each connection. */
export function serverCpuMs(pid: number | null): number {
  if (pid === null) return 0
  const own = statOf(pid)
  if (own === null) return Number.NaN
  let total = ownMs(pid, own) + own.endedMs
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = statOf(Number(name))
      if (stat?.parent === pid) total += ownMs(Number(name), stat)
    } catch {
      // It ended while it was looked at: its time is in its parent's from now on.
    }
  }
  return total
}

export interface Spent {
  readonly ms: number
  /** Shares of one processor. */
  readonly client: number
  readonly server: number
}

export async function spent(
  serverPid: number | null,
  work: () => Promise<unknown>,
): Promise<Spent> {
  const server = serverCpuMs(serverPid)
  // To look at the server costs time too, some of it on threads that are not done yet.
  await new Promise(resolve => setTimeout(resolve, CALM_MS))
  const client = process.cpuUsage()
  const from = performance.now()
  await work()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(client)
  return {
    ms,
    client: (user + system) / 1_000 / ms,
    server: (serverCpuMs(serverPid) - server) / ms,
  }
}

/** After a collection, where the process was started with --expose-gc. */
export function memoryMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().rss / 1_048_576
}
