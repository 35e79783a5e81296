// Where an isolated handler begins: the first file of its process or thread.

import process from 'node:process'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { ownThreadId, peakMbOf, threadCpuMs } from '../usage.ts'
import { HandlerHost, type Link } from './handler-host.ts'
import type { Envelope, ProcessOptions, ToHandler, ToNode, WatchdogOptions } from './messages.ts'

const KB_PER_MB = 1_024

function enveloped(message: ToNode): Envelope {
  return { carillon: message }
}

/**
 * A process is measured as a whole, from its first moment. On Linux the peak that `getrusage` tells may be
 * that of the node which started it, so there the kernel's own record of this program is read.
 */
function processLink(options: ProcessOptions): Link {
  return {
    send: (message, sent) => {
      process.send?.(enveloped(message), undefined, undefined, () => sent?.())
    },
    usage: () => {
      const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
      const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1_000)
      return { cpuMs, peakMb: peakMbOf('self') ?? Math.ceil(maxRSS / KB_PER_MB) }
    },
    armed: startWatchdog({ ...options, parent: process.ppid }),
    leave: () => process.exit(0),
  }
}

/** Ready before the handler is loaded, which may never let go of this thread. */
function startWatchdog(options: WatchdogOptions): Promise<void> {
  const file = `./watchdog${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`
  const watchdog = new Worker(new URL(file, import.meta.url), { workerData: options })
  watchdog.unref()
  return new Promise((resolve, reject) => {
    watchdog.once('message', () => resolve())
    watchdog.once('error', reject)
  })
}

/** Memory is shared by all threads: that of one cannot be told. */
function threadLink(thread: number | null): Link {
  return {
    send: (message, sent) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      parentPort?.postMessage(enveloped(message))
      if (sent) queueMicrotask(sent)
    },
    usage: () => ({ cpuMs: thread === null ? null : threadCpuMs(thread), peakMb: null }),
    armed: Promise.resolve(),
    // What it printed is on its way by then.
    leave: () => setImmediate(() => process.exit(0)),
  }
}

if (isMainThread) {
  const [options] = process.argv.splice(2, 1)
  const link = processLink(JSON.parse(options!) as ProcessOptions)
  const host = new HandlerHost(link)
  // A terminal and a supervisor send these to all processes of a service. The node stops its handlers.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('message', message => host.receive(message as ToHandler))
  // Without a node there is nobody to work for.
  process.on('disconnect', () => process.exit(1))
  link.send({ kind: 'ready', thread: null })
} else {
  const thread = ownThreadId()
  const link = threadLink(thread)
  const host = new HandlerHost(link)
  parentPort?.on('message', message => host.receive(message as ToHandler))
  link.send({ kind: 'ready', thread })
}
