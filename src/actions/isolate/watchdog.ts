// A thread beside an isolated handler that ends the process: when it exceeds a limit, whatever the
// handler is doing, and when the node that started it is gone.

import { writeSync } from 'node:fs'
import process from 'node:process'
import { parentPort, workerData } from 'node:worker_threads'
import { peakMbOf } from '../usage.ts'
import type { LimitReport, WatchdogOptions } from './messages.ts'

const LOOK_MS = 50
const BYTES_PER_MB = 1_048_576

const { memoryMb, cpuMs, reportFd, parent } = workerData as WatchdogOptions

function end(limit: LimitReport['limit'], used: { cpuMs: number; memoryMb: number }): void {
  const peakMb = Math.max(peakMbOf('self') ?? 0, used.memoryMb)
  const report: LimitReport = { limit, usedMb: used.memoryMb, cpuMs: used.cpuMs, peakMb }
  try {
    writeSync(reportFd, JSON.stringify(report))
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
}

function look(): void {
  // A process that is left behind belongs to another parent from then on.
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  if (memoryMb === null && cpuMs === null) return
  const { user, system } = process.cpuUsage()
  const used = {
    cpuMs: Math.round((user + system) / 1_000),
    memoryMb: Math.ceil(process.memoryUsage.rss() / BYTES_PER_MB),
  }
  if (memoryMb !== null && used.memoryMb > memoryMb) end('memory', used)
  else if (cpuMs !== null && used.cpuMs > cpuMs) end('cpu', used)
}

// oxlint-disable-next-line no-restricted-globals -- a process of its own: no virtual clock reaches it
setInterval(look, LOOK_MS)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage('armed')
