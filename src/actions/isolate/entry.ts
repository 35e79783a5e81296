// Where an isolated handler begins: the first file of its process or thread.

import process from 'node:process'
import { isMainThread, parentPort } from 'node:worker_threads'
import { Inside, type Line } from './inside.ts'
import type { ToHandler } from './messages.ts'

const KB_PER_MB = 1_024

/** A process of its own is measured as a whole, less the time it took to come up. */
const processLine: Line = {
  send: (message, sent) => {
    process.send?.(message, undefined, undefined, () => sent?.())
  },
  meter: () => {
    const before = process.cpuUsage()
    return () => {
      const { user, system } = process.cpuUsage(before)
      const peakMb = Math.ceil(process.resourceUsage().maxRSS / KB_PER_MB)
      return { cpuMs: Math.round((user + system) / 1_000), peakMb }
    }
  },
  leave: () => process.exit(0),
}

type ThreadCpu = () => { readonly user: number; readonly system: number }

/** Of a thread only its processor time can be told apart, and that only by newer versions of Node. */
const threadLine: Line = {
  send: (message, sent) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(message)
    if (sent) queueMicrotask(sent)
  },
  meter: () => {
    const { threadCpuUsage } = process as { threadCpuUsage?: ThreadCpu }
    const before = threadCpuUsage?.call(process)
    return () => {
      const after = threadCpuUsage?.call(process)
      const isKnown = before !== undefined && after !== undefined
      const used = isKnown ? after.user + after.system - before.user - before.system : null
      return { cpuMs: used === null ? null : Math.round(used / 1_000), peakMb: null }
    }
  },
  leave: () => parentPort?.close(),
}

const line = isMainThread ? processLine : threadLine
const inside = new Inside(line)

if (isMainThread) {
  process.on('message', message => inside.heard(message as ToHandler))
  // Without a node there is nobody to work for.
  process.on('disconnect', () => process.exit(1))
} else parentPort?.on('message', message => inside.heard(message as ToHandler))

line.send({ kind: 'ready' })
