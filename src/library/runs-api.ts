// `scheduler.runs`: what became of each occurrence, and runs asked for again.

import type { Attempt } from '../core/attempt.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import { parseRunId } from '../core/job.ts'
import type { LedgerEntry } from '../core/ledger.ts'
import type { Run } from '../core/run.ts'
import type { Engine } from '../engine/engine.ts'
import type { AttemptFilter, LogLine, Page } from '../store/store.ts'

export class RunsApi {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  get(id: string): Promise<Run> {
    return this.#engine.client.getRun(id)
  }

  /** Attempts, newest first. */
  list(filter: AttemptFilter = {}): AsyncGenerator<Attempt, void, void> {
    return pages(cursor =>
      this.#engine.store.attempts(filter, { limit: limits.pageMax, cursor, newestFirst: true }),
    )
  }

  /** Every decision of one schedule, runs and skips, in the order of their moments. */
  ledger(jobId: string): AsyncGenerator<LedgerEntry, void, void> {
    return pages(cursor => this.#engine.store.ledger(jobId, { limit: limits.pageMax, cursor }))
  }

  log(attemptId: string): AsyncGenerator<LogLine, void, void> {
    return pages(cursor => this.#engine.store.log(attemptId, { limit: limits.pageMax, cursor }))
  }

  async cancel(id: string, reason?: string): Promise<void> {
    await this.#engine.client.cancelRun(id, reason)
  }

  /** A new run of the same occurrence; resolves to its id. */
  retry(id: string): Promise<string> {
    return this.#engine.client.retryRun(id)
  }

  /** A new run with another payload; resolves to its id. */
  async replay(id: string, payload: Json): Promise<string> {
    await this.#engine.client.getRun(id)
    return this.#engine.client.run(parseRunId(id)!.jobId, { payload })
  }
}

async function* pages<T>(
  read: (cursor: string | null) => Promise<Page<T>>,
): AsyncGenerator<T, void, void> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor)
    yield* page.items
    cursor = page.cursor
  } while (cursor !== null)
}
