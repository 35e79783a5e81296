// What an isolated handler runs in: a child process or a worker thread, seen the same way.

import { fork, type ChildProcess } from 'node:child_process'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import { endAtExit } from '../living.ts'
import { processUsage, threadCpuMs, type Usage } from '../usage.ts'
import {
  messageIn,
  type IsolateLimits,
  type LimitReport,
  type ProcessOptions,
  type ToHandler,
  type ToNode,
} from './messages.ts'

export interface Sandbox {
  readonly stdout: Readable
  readonly stderr: Readable
  send(message: ToHandler): void
  /** What it has used until now. */
  usage(): Usage
  /** At once, whatever it is doing. */
  end(): void
}

export interface SandboxEvents {
  readonly received: (message: ToNode) => void
  /** It is gone, and all it said was received. */
  readonly ended: (end: SandboxEnd) => void
}

export type SandboxEnd =
  /** It exceeded a limit. */
  | { readonly kind: 'limit'; readonly limit: 'memory' | 'cpu'; readonly how: string; usage: Usage }
  | { readonly kind: 'gone'; readonly how: string }

export interface SandboxOptions extends IsolateLimits {
  readonly clock: Clock
  /** Options for Node; those of this process unless given. */
  readonly execArgv?: readonly string[]
  /** The first file, for programs that load TypeScript or source maps their own way. */
  readonly entry?: URL
}

/** The file beside this one, in whichever form it was built. */
const ownEntry = new URL(
  `./entry${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
)

/** Behind stdin, stdout, stderr and the channel for messages. */
const REPORT_FD = 4
const REPORT_MAX = 1_024
/** How long output may go on after the process has ended: something it started may hold the pipe. */
const LINGER_MS: Millis = 300

export function openProcess(options: SandboxOptions, events: SandboxEvents): Sandbox {
  const { memoryMb, cpuMs, entry = ownEntry, clock } = options
  const heap = memoryMb === null ? [] : [`--max-old-space-size=${memoryMb}`]
  const given: ProcessOptions = { memoryMb, cpuMs, reportFd: REPORT_FD }
  const child = fork(fileURLToPath(entry), [JSON.stringify(given)], {
    execArgv: [...argumentsOf(options), ...heap],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    // Payloads that a schema has read may hold dates.
    serialization: 'advanced',
  })
  const kill = () => child.kill('SIGKILL')
  endAtExit(child, kill)
  child.on('message', sent => {
    const message = messageIn(sent)
    if (message !== null) events.received(message)
  })
  whenClosed(child, clock, end => events.ended(endOf(end, memoryMb)))
  return {
    stdout: child.stdout!,
    stderr: child.stderr!,
    // A child that is gone says so by its exit.
    send: message => child.connected && child.send(message, () => {}),
    usage: () =>
      child.pid === undefined ? { cpuMs: null, peakMb: null } : processUsage(child.pid),
    end: kill,
  }
}

interface ProcessEnd {
  readonly how: string
  readonly code: number | null
  readonly signal: string | null
  /** What its watchdog wrote; empty when that had no reason to. */
  readonly report: string
}

function whenClosed(child: ChildProcess, clock: Clock, ended: (end: ProcessEnd) => void): void {
  let report = ''
  const reports = child.stdio[REPORT_FD] as Readable | null
  reports?.on('data', bytes => (report = (report + String(bytes)).slice(0, REPORT_MAX)))
  reports?.on('error', () => {})
  child.once('error', error => ended({ how: error.message, code: null, signal: null, report }))
  child.once('exit', (code, signal) => {
    const how = signal ?? `code ${code}`
    let isTold = false
    const tell = () => {
      if (!isTold) ended({ how, code, signal, report })
      isTold = true
    }
    const stop = clock.after(LINGER_MS, tell)
    child.once('close', () => {
      stop()
      tell()
    })
  })
}

function endOf({ how, code, signal, report }: ProcessEnd, memoryMb: number | null): SandboxEnd {
  if (report !== '') {
    const { limit, usedMb, cpuMs, peakMb } = JSON.parse(report) as LimitReport
    const used = limit === 'memory' ? `${usedMb} MB` : `${(cpuMs ?? 0) / 1_000} s`
    return { kind: 'limit', limit, how: `it used ${used}`, usage: { cpuMs, peakMb } }
  }
  // V8 ends a process that runs out of its heap this way.
  const isOutOfMemory = signal === 'SIGABRT' || code === 134
  if (!isOutOfMemory) return { kind: 'gone', how }
  if (memoryMb === null) return { kind: 'gone', how: `${how}: its heap was full` }
  return { kind: 'limit', limit: 'memory', how: 'its heap was full', usage: unknownUsage }
}

const unknownUsage: Usage = { cpuMs: null, peakMb: null }

/** How often the CPU time of a thread is looked at. */
const LOOK_MS: Millis = 50

export function openThread(options: SandboxOptions, events: SandboxEvents): Sandbox {
  const { memoryMb, cpuMs, entry = ownEntry, clock } = options
  const worker = new Worker(entry, {
    execArgv: argumentsOf(options),
    stdout: true,
    stderr: true,
    ...(memoryMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
  })
  let thread: number | null = null
  let failure: SandboxEnd | null = null
  let stopLooking: (() => void) | null = null
  const usage = (): Usage => ({ cpuMs: thread === null ? null : threadCpuMs(thread), peakMb: null })
  const look = (): void => {
    const used = usage()
    if (cpuMs !== null && used.cpuMs !== null && used.cpuMs > cpuMs) {
      failure = { kind: 'limit', limit: 'cpu', how: `it used ${used.cpuMs / 1_000} s`, usage: used }
      void worker.terminate()
    } else stopLooking = clock.after(LOOK_MS, look)
  }
  worker.on('message', (sent: unknown) => {
    const message = messageIn(sent)
    if (message === null) return
    if (message.kind === 'ready') {
      thread = message.thread
      if (cpuMs !== null) look()
    }
    events.received(message)
  })
  worker.once('error', error => (failure ??= endOfThread(error)))
  worker.once('exit', code => {
    stopLooking?.()
    events.ended(failure ?? { kind: 'gone', how: `code ${code}` })
  })
  return {
    stdout: worker.stdout,
    stderr: worker.stderr,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    send: message => worker.postMessage(message),
    usage,
    end: () => void worker.terminate(),
  }
}

function endOfThread(error: Error): SandboxEnd {
  const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (!isOutOfMemory) return { kind: 'gone', how: error.message }
  return { kind: 'limit', limit: 'memory', how: 'its heap was full', usage: unknownUsage }
}

/** A debugger's port cannot be shared, and a heap limit is set anew. */
function argumentsOf({ execArgv }: SandboxOptions): string[] {
  const given = execArgv ?? process.execArgv
  return given.filter(one => !/^--(?:inspect|max-old-space-size|max-semi-space-size)/.test(one))
}
