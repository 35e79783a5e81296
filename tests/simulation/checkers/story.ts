// Tells a small history by hand, step by step, for the checkers to be tested on. Nothing here asks
// the product what to do: each step says itself what it leaves behind.

import type { Attempt, OutcomeKind } from '../../../src/core/attempt.ts'
import { createJob } from '../../../src/core/create.ts'
import type { Job } from '../../../src/core/job.ts'
import type { Skip } from '../../../src/core/history/ledger.ts'
import { completeSpec, type JobSpec } from '../../../src/core/spec.ts'
import type { ClientCall, Fault, History, Life, Witness, Write } from '../history.ts'

export const T = Date.UTC(2026, 0, 5, 12)
export const at = (seconds: number): number => T + Math.round(seconds * 1_000)

/** A history that may be bent. */
export type Draft = { -readonly [K in keyof History]: Mutable<History[K]> }
type Mutable<V> = V extends readonly (infer E)[] ? Mutable<E>[] : V extends object ? Bend<V> : V
type Bend<V> = { -readonly [K in keyof V]: Mutable<V[K]> }

export class Story {
  readonly writes: Write[] = []
  readonly witness: Witness[] = []
  readonly client: ClientCall[] = []
  readonly faults: Fault[] = []
  readonly lives: Life[] = ['node-0', 'node-1'].map(node => ({
    node,
    life: 1,
    startedAt: T,
    endedAt: null,
    how: null,
  }))
  readonly attempts: Attempt[] = []
  readonly skips: Skip[] = []
  row: Job

  constructor(spec: Partial<JobSpec>) {
    const trigger = { kind: 'interval', everyMs: 10_000, from: 'schedule', anchor: null } as const
    const full = completeSpec({ handler: 'work', trigger, ...spec })
    this.row = createJob({ id: 'j', spec: full }, T)
    this.#push(at(0), 'insert', 'create', { before: null, after: this.row })
    this.#called(at(0), 'create')
  }

  #push(
    when: number,
    call: Write['call'],
    verb: string | null,
    more: Pick<Write, 'before' | 'after'> & Partial<Write>,
  ): void {
    const lease = more.before?.lease ?? null
    this.writes.push({
      at: when,
      sentAt: when,
      node: lease?.owner ?? 'node-0',
      call,
      verb,
      jobId: 'j',
      token: call === 'commit' ? (lease?.token ?? null) : null,
      expectedVersion: call === 'commit' ? (more.before?.version ?? null) : null,
      attempts: [],
      skips: [],
      ...more,
    })
  }

  #called(when: number, verb: string): void {
    this.client.push({
      verb,
      jobId: 'j',
      node: 'node-0',
      invokedAt: when - 5,
      endedAt: when + 5,
      result: 'ok',
      detail: '',
      spec: null,
      runId: null,
    })
  }

  #next(patch: Partial<Job>): { before: Job; after: Job } {
    const before = this.row
    this.row = { ...before, ...patch, version: before.version + 1 }
    return { before, after: this.row }
  }

  claim(seconds: number, owner: string): this {
    const now = at(seconds)
    const { counters } = this.row
    const fence = counters.fence + 1
    const lease = {
      token: `t${fence}`,
      owner,
      attemptId: `a${fence}`,
      claimedAt: now,
      until: now + 3_000,
    }
    const step = this.#next({
      state: 'running',
      dueAt: null,
      lease,
      counters: { ...counters, fence, attempts: counters.attempts + 1 },
    })
    this.#push(now, 'claim', null, { ...step, node: owner })
    return this
  }

  /** What is written between a claim and its handler. */
  begin(seconds: number, patch: Partial<Job>, skip: Omit<Skip, 'jobId'>): this {
    const skips = [{ jobId: 'j', ...skip }]
    this.skips.push(...skips)
    const { totals } = this.row
    const step = this.#next({
      ...patch,
      totals: { ...totals, skipped: totals.skipped + skip.count },
    })
    this.#push(at(seconds), 'commit', null, { ...step, skips })
    return this
  }

  /** The handler runs from its claim to this settling, and the row waits for what the patch says. */
  settle(seconds: number, outcome: OutcomeKind, patch: Partial<Job>): this {
    const now = at(seconds)
    const { lease, counters, totals, current, nextAt } = this.row
    const run = current.run > 0 ? current.run : counters.runs + 1
    const isOk = outcome === 'succeeded'
    this.witness.push(witnessOf(this.row, run, { endedAt: now - 2, isOk }))
    const attempt = attemptOf(this.row, run, { outcome, now })
    this.attempts.push(attempt)
    const isFailed = outcome === 'failed' || outcome === 'abandoned'
    const concluded = counters.concluded + (isOk ? 1 : 0)
    const step = this.#next({
      state: 'waiting',
      lease: null,
      counters: { ...counters, runs: Math.max(run, counters.runs), concluded },
      totals: {
        ...totals,
        succeeded: totals.succeeded + (isOk ? 1 : 0),
        failed: totals.failed + (isFailed ? 1 : 0),
        durationMs: totals.durationMs + now - lease!.claimedAt,
      },
      current: isOk ? { ...current, run: 0, attempt: 0, failures: 0 } : current,
      retryAt: null,
      nextAt,
      updatedAt: now,
      ...patch,
    })
    this.#push(now, 'commit', null, { ...step, attempts: [attempt] })
    return this
  }

  person(seconds: number, verb: string, patch: Partial<Job>, skip?: Omit<Skip, 'jobId'>): this {
    const skips = skip ? [{ jobId: 'j', ...skip }] : []
    this.skips.push(...skips)
    const { totals } = this.row
    const skipped = totals.skipped + (skip?.count ?? 0)
    const step = this.#next({ updatedAt: at(seconds), totals: { ...totals, skipped }, ...patch })
    this.#push(at(seconds), 'commit', verb, { ...step, skips })
    this.#called(at(seconds), verb)
    return this
  }

  fault(kind: Fault['kind'], node: string | null, from: number, to: number): this {
    this.faults.push({ kind, node, from: at(from), to: at(to) })
    return this
  }

  end(quiet: number, end: number): History {
    const { writes, client, faults, witness, lives, attempts, skips, row } = this
    return {
      seed: 0,
      startAt: T,
      quietAt: at(quiet),
      endAt: at(end),
      bounds: {
        leaseMs: 3_000,
        reapMs: 1_000,
        lookMs: 500,
        checkIntervalMs: 1_000,
        abortGraceMs: 300,
        slots: 2,
        roundTripMs: 10,
      },
      writes,
      refusals: [],
      client,
      faults,
      witness,
      lives,
      measures: lives.map(({ node }) => ({ node, at: T, tookMs: 10 })),
      // Copies: what is read in the end may differ from what was written.
      dump: structuredClone({ jobs: [row], attempts, skips }),
    }
  }
}

function witnessOf(row: Job, run: number, end: { endedAt: number; isOk: boolean }): Witness {
  const { lease, counters, current, nextAt } = row
  return {
    node: lease!.owner,
    life: 1,
    jobId: 'j',
    run,
    attempt: current.attempt + 1,
    fence: counters.fence,
    occurrence: nextAt!,
    key: `j.${run}`,
    attemptId: lease!.attemptId,
    startedAt: lease!.claimedAt + 1,
    leaseUntil: lease!.until,
    endedAt: end.endedAt,
    ended: end.isOk ? 'ok' : 'thrown',
    abortedAt: null,
    abortReason: null,
  }
}

function attemptOf(row: Job, run: number, end: { outcome: OutcomeKind; now: number }): Attempt {
  const { lease, counters, current, nextAt } = row
  return {
    id: lease!.attemptId,
    jobId: 'j',
    run,
    attempt: current.attempt + 1,
    number: counters.attempts,
    fence: counters.fence,
    retries: current.failures,
    origin: 'schedule',
    retryOf: null,
    occurrence: nextAt!,
    missed: 0,
    owner: lease!.owner,
    claimedAt: lease!.claimedAt,
    startedAt: lease!.claimedAt,
    finishedAt: end.now,
    outcome: end.outcome,
    reason: null,
    error: null,
    result: null,
    measures: null,
    expireAt: end.now + 1e9,
  }
}
