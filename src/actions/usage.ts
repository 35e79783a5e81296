// What processes and threads have used, as Linux tells it under /proc. Null where nothing is told:
// on other systems, and once the process is gone.

import { readFileSync } from 'node:fs'
import process from 'node:process'

export interface Usage {
  readonly cpuMs: number | null
  readonly peakMb: number | null
}

/** Linux counts CPU time in hundredths of a second for everybody outside the kernel. */
const MS_PER_TICK = 10
const KB_PER_MB = 1_024

/** How many descendants of a command are looked at. */
const TREE_MAX = 256

export const isUsageKnown = process.platform === 'linux'

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

interface Ticks {
  /** Its own. */
  readonly own: number
  /** Of the processes it started that have ended. */
  readonly ended: number
}

/** The second field is the name of the program, which may hold spaces and brackets. */
function ticksOf(path: string): Ticks | null {
  const fields = read(path)?.split(') ').at(-1)?.split(' ')
  if (fields === undefined || fields.length < 15) return null
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
  return { own: user! + system!, ended: endedUser! + endedSystem! }
}

function kilobytes(status: string, field: string): number | null {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)
  return found ? Number(found[1]) : null
}

/** The most a process has held, since it became the program it is. */
export function peakMbOf(pid: number | 'self'): number | null {
  const peak = kilobytes(read(`/proc/${pid}/status`) ?? '', 'VmHWM')
  return peak === null ? null : Math.ceil(peak / KB_PER_MB)
}

export function processUsage(pid: number): Usage {
  const ticks = ticksOf(`/proc/${pid}/stat`)
  return { cpuMs: ticks === null ? null : ticks.own * MS_PER_TICK, peakMb: peakMbOf(pid) }
}

/** The id that /proc knows the calling thread by. */
export function ownThreadId(): number | null {
  const id = read('/proc/thread-self/stat')?.split(' ', 1)[0]
  return id === undefined ? null : Number(id)
}

/** The CPU time of a thread of this process. */
export function threadCpuMs(id: number): number | null {
  const ticks = ticksOf(`/proc/self/task/${id}/stat`)
  return ticks === null ? null : ticks.own * MS_PER_TICK
}

export interface TreeSample {
  readonly cpuMs: number
  /** Held by all of them together; null once none holds any. */
  readonly memoryMb: number | null
}

/** A process and everything it started; null when it is gone. */
export function treeSample(pid: number): TreeSample | null {
  const root = ticksOf(`/proc/${pid}/stat`)
  if (root === null) return null
  const seen = [pid]
  let ticks = 0
  let kb: number | null = null
  for (let i = 0; i < seen.length && i < TREE_MAX; i++) {
    const one = seen[i]!
    const used = i === 0 ? root : ticksOf(`/proc/${one}/stat`)
    if (used === null) continue
    ticks += used.own + used.ended
    const held = kilobytes(read(`/proc/${one}/status`) ?? '', 'VmRSS')
    if (held !== null) kb = (kb ?? 0) + held
    const children = read(`/proc/${one}/task/${one}/children`)?.trim() ?? ''
    if (children !== '') seen.push(...children.split(' ').map(Number))
  }
  return { cpuMs: ticks * MS_PER_TICK, memoryMb: kb === null ? null : Math.ceil(kb / KB_PER_MB) }
}
