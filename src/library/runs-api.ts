// `scheduler.runs`: what became of each occurrence, and runs asked for again.

import type { Attempt, OutcomeKind } from '../core/attempt.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import {
  isEpoch,
  isLabel,
  isListOf,
  isWhole,
  refuseId,
  refuseOptions,
  type Checks,
} from '../core/spec/option-check.ts'
import type { PayloadCheck } from '../core/history/payload.ts'
import { parseRunId } from '../core/job.ts'
import type { LedgerEntry } from '../core/history/ledger.ts'
import type { Run } from '../core/history/run.ts'
import type { Engine } from '../create-engine.ts'
import { pages, readLedger } from '../jobs/ledger.ts'
import type { AttemptFilter, LogLine } from '../store/port.ts'

const outcomeNames: Readonly<Record<OutcomeKind, true>> = {
  succeeded: true,
  failed: true,
  timedOut: true,
  cancelled: true,
  abandoned: true,
  interrupted: true,
  skipped: true,
  deferred: true,
  released: true,
}

const attemptFilterChecks: Checks<AttemptFilter> = {
  jobId: isLabel,
  id: isLabel,
  run: isWhole(0),
  outcomes: isListOf(outcomeNames),
  tenant: isLabel,
  queue: isLabel,
  handler: isLabel,
  seriesId: isLabel,
  since: isEpoch,
  until: isEpoch,
}

export class RunsApi {
  readonly #engine: Engine
  readonly #stored: PayloadCheck

  constructor(engine: Engine, stored: PayloadCheck) {
    this.#engine = engine
    this.#stored = stored
  }

  async get(id: string): Promise<Run> {
    refuseId('id', id)
    return this.#engine.client.getRun(id)
  }

  /** Attempts, newest first. */
  list(filter: AttemptFilter = {}): AsyncGenerator<Attempt, void, void> {
    refuseOptions('the filter of runs is not valid', filter, attemptFilterChecks, {
      code: 'QUERY_INVALID',
    })
    return pages(cursor =>
      this.#engine.store.attempts(filter, { limit: limits.pageMax, cursor, newestFirst: true }),
    )
  }

  /**
   * Every decision of one schedule, runs and skips, in the order of their times. Times
   * that came again because the clock was set back follow in the order of clock epochs.
   */
  ledger(jobId: string): AsyncGenerator<LedgerEntry, void, void> {
    refuseId('jobId', jobId)
    return readLedger(this.#engine, jobId)
  }

  log(attemptId: string): AsyncGenerator<LogLine, void, void> {
    refuseId('attemptId', attemptId)
    return pages(cursor => this.#engine.store.log(attemptId, { limit: limits.pageMax, cursor }))
  }

  async cancel(id: string, reason?: string): Promise<void> {
    refuseId('id', id)
    await this.#engine.client.cancelRun(id, reason)
  }

  /** A new run of the same occurrence; resolves to its id. */
  async retry(id: string): Promise<string> {
    refuseId('id', id)
    return this.#engine.client.retryRun(id)
  }

  /** A new run with another payload, or with that of the run; resolves to its id. */
  async replay(id: string, ...given: readonly [payload?: Json]): Promise<string> {
    refuseId('id', id)
    const { client } = this.#engine
    const payload = given.length === 0 ? await client.payloadToReplay(id) : given[0]!
    if (given.length > 0) await client.getRun(id)
    const { jobId } = parseRunId(id)!
    const { spec } = await client.get(jobId)
    return client.run(jobId, { payload: await this.#stored(spec.handler, payload) })
  }
}
