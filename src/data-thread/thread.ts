// A thread that writes a SQLite file of pages or rows: a page of many words takes the full-text index 80 ms,
// a page of 10,000 rows with its commit 0.2 s, which would hold the event loop.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { slices, type Steps } from '../actions/slices.ts'
import { SchedulerError, type ErrorCode } from '../core/errors.ts'
import type { Row } from '../sources/tables.ts'
import type { DataCall, DataFile, Failure, FromDataThread, ToDataThread } from './messages.ts'

/** Values of rows in one message, and characters of them: copying them is one step. */
const VALUES_PER_MESSAGE = 2_000
const LENGTH_PER_MESSAGE = 256 * 1024

/** The file beside this one. It is not there where sources run unbuilt, or were bundled by others. */
export const ownEntry = new URL('./entry.js', import.meta.url)

interface Waiting {
  readonly resolve: (count: number) => void
  readonly reject: (error: Error) => void
}

export class DataThread {
  readonly #file: DataFile
  readonly #entry: URL
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #last = 0

  constructor(file: DataFile, entry: URL) {
    this.#file = file
    this.#entry = entry
  }

  /** A database in memory is that of one thread. */
  static isPossible({ path }: DataFile, entry: URL): boolean {
    return path !== ':memory:' && existsSync(fileURLToPath(entry))
  }

  /** Resolves to what it changed, a number of pages or rows. */
  async call(call: DataCall, rows: readonly Row[] = []): Promise<number> {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#last
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    const post = (message: ToDataThread) => worker.postMessage(message)
    const result = new Promise<number>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    // A process ends when nothing is being written.
    worker.ref()
    const sent = slices.run(sending(id, rows, post), { totalMs: Infinity })
    sent.then(
      () => post({ id, ...call }),
      (error: unknown) => this.#end(id, ({ reject }) => reject(error as Error)),
    )
    return result
  }

  /** What was called before is done first. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === null) return
    await this.call({ call: 'close' })
    this.#worker = null
    await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#file })
    const gone = (error: Error) => {
      if (this.#worker === worker) this.#worker = null
      for (const id of this.#waiting.keys()) this.#end(id, ({ reject }) => reject(error))
    }
    worker.on('message', (message: FromDataThread) => {
      this.#end(message.id, ({ resolve, reject }) =>
        message.kind === 'done' ? resolve(message.count) : reject(errorOf(message.error)),
      )
    })
    worker.on('error', gone)
    worker.on('exit', () => gone(new Error(`the thread that writes ${this.#file.path} has ended`)))
    return worker
  }

  #end(id: number, answer: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (waiting !== undefined) answer(waiting)
  }
}

function* sending(
  id: number,
  rows: readonly Row[],
  post: (message: ToDataThread) => void,
): Steps<void> {
  let part: Row[] = []
  let [values, length] = [0, 0]
  for (const row of rows) {
    part.push(row)
    values += row.values.length
    for (const value of row.values) length += value?.length ?? 0
    if (values < VALUES_PER_MESSAGE && length < LENGTH_PER_MESSAGE) continue
    post({ id, call: 'rows', rows: part })
    part = []
    ;[values, length] = [0, 0]
    yield
  }
  if (part.length > 0) post({ id, call: 'rows', rows: part })
}

function errorOf({ message, code }: Failure): Error {
  return code === null ? new Error(message) : new SchedulerError(code as ErrorCode, message)
}
