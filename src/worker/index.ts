// `carillon/worker`: does tasks of a Carillon service in a process of its own. Needs nothing but
// fetch.

import { systemAmbient, type Ambient } from './ambient.ts'
import { Calls } from './calls.ts'
import { refuseOptions } from './options.ts'
import { Worker, type RunTask } from './worker.ts'
import type { Task } from './calls.ts'

export { Refused, Unavailable, type Json, type Task } from './calls.ts'
export { GiveUp, RetryLater, Worker, type RunTask, type TaskContext } from './worker.ts'

export interface WorkerOptions {
  /** Of the service, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** With the role operator; asked for before every request when it is a function. */
  readonly token: string | (() => string | Promise<string>)
  /** Does one task; what it returns is the result. */
  readonly run: RunTask
  /** Shown as the holder of its tasks. */
  readonly name: string
  /** Tasks at once. Default 1. */
  readonly concurrency?: number
  readonly queues?: readonly string[]
  readonly handlers?: readonly string[]
  /** Users served first; every user unless given. */
  readonly users?: readonly string[]
  /** Users served when those have nothing. */
  readonly steal?: readonly string[]
  /** How long a claim waits for work. Default 20. */
  readonly waitSeconds?: number
  /** How long a task is held without a heartbeat, which comes three times as often. Default 60. */
  readonly leaseSeconds?: number
  /** How long an answer may take, beyond the wait. Default 10,000. */
  readonly timeoutMs?: number
  /** Outages, and tasks whose end could not be told. Default: the console. */
  readonly onError?: (error: unknown, task: Task | null) => void
  readonly fetch?: typeof globalThis.fetch
  readonly ambient?: Ambient
}

export function createWorker(options: WorkerOptions): Worker {
  refuseOptions(options)
  const { url, token, name, queues, handlers, users, steal } = options
  const timeoutMs = options.timeoutMs ?? 10_000
  return new Worker({
    calls: new Calls({ url, token, timeoutMs, fetch: options.fetch ?? globalThis.fetch }),
    ambient: options.ambient ?? systemAmbient,
    run: options.run,
    concurrency: options.concurrency ?? 1,
    // oxlint-disable-next-line no-console -- a worker without a listener must not fail in silence
    onError: options.onError ?? (error => console.error(error)),
    asks: {
      worker: name,
      ...(queues ? { queues } : {}),
      ...(handlers ? { handlers } : {}),
      ...(users ? { users } : {}),
      ...(steal ? { steal } : {}),
      wait_seconds: options.waitSeconds ?? 20,
      lease_seconds: options.leaseSeconds ?? 60,
    },
  })
}
