// Writes the history down as it happens. It compares the rows themselves before and after each
// call, so that a store which changes more than it says is seen to.

import { createHash, type Hash } from 'node:crypto'
import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import type { Skip } from '../../src/core/history/ledger.ts'
import type { Instant } from '../../src/core/time.ts'
import type { Rows } from '../../src/store/memory/rows.ts'
import type {
  ClientCall,
  Fault,
  Life,
  Measure,
  Refusal,
  Violation,
  Witness,
  Write,
} from './history.ts'
import type { WorldClock } from './sim-clock.ts'

export interface Caller {
  readonly node: string
  readonly verb: string | null
  readonly sentAt: Instant
}

/** What the writer showed for a row. */
export interface Shown {
  readonly token: string | null
  readonly expectedVersion: number | null
}

export class Recorder {
  readonly writes: Write[] = []
  readonly refusals: Refusal[] = []
  readonly client: ClientCall[] = []
  readonly faults: Fault[] = []
  readonly witness: Witness[] = []
  readonly lives: Life[] = []
  readonly measures: Measure[] = []
  readonly labels = new Map<string, number>()
  readonly #rows: Rows
  readonly #clock: WorldClock
  readonly #mirror = new Map<string, Job>()
  readonly #seen = new WeakSet<Attempt | Skip>()
  readonly #hash: Hash = createHash('sha1')
  readonly #lines: string[] | null

  constructor(rows: Rows, clock: WorldClock, keepsLines: boolean) {
    this.#rows = rows
    this.#clock = clock
    this.#lines = keepsLines ? [] : null
  }

  label(name: string): void {
    this.labels.set(name, (this.labels.get(name) ?? 0) + 1)
  }

  isAnyRunning(): boolean {
    for (const job of this.#mirror.values()) if (job.state === 'running') return true
    return false
  }

  line(text: string): void {
    const full = `${this.#clock.now()} ${text}\n`
    this.#hash.update(full)
    this.#lines?.push(full)
  }

  /** Equal for equal histories. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  get lines(): readonly string[] {
    return this.#lines ?? []
  }

  /** Everything the call did to the rows, whatever it said. */
  observe(call: Write['call'], caller: Caller, shown: ReadonlyMap<string, Shown>): Write[] {
    const found: Write[] = []
    for (const [id, { job }] of this.#rows.jobs) {
      const before = this.#mirror.get(id)
      if (before === job) continue
      this.#mirror.set(id, job)
      found.push(this.#write(call, caller, { id, before: before ?? null, after: job, shown }))
    }
    if (this.#mirror.size > this.#rows.jobs.size) {
      for (const [id, before] of this.#mirror) {
        if (this.#rows.jobs.has(id)) continue
        this.#mirror.delete(id)
        found.push(this.#write(call, caller, { id, before, after: null, shown }))
      }
    }
    this.writes.push(...found)
    return found
  }

  #write(
    call: Write['call'],
    { node, verb, sentAt }: Caller,
    row: {
      id: string
      before: Job | null
      after: Job | null
      shown: ReadonlyMap<string, Shown>
    },
  ): Write {
    const { id, before, after } = row
    const { token, expectedVersion } = row.shown.get(id) ?? { token: null, expectedVersion: null }
    const isCommit = call === 'commit'
    const attempts = isCommit
      ? this.#fresh((this.#rows.attempts.get(id) ?? []).map(held => held.attempt))
      : []
    const skips = isCommit
      ? this.#fresh((this.#rows.skips.get(id) ?? []).map(held => held.skip))
      : []
    const at = this.#clock.now()
    this.#trace({ call, node, verb, id, before, after, attempts, skips })
    return {
      at,
      sentAt,
      node,
      call,
      verb,
      jobId: id,
      before,
      after,
      token,
      expectedVersion,
      attempts,
      skips,
    }
  }

  #fresh<T extends Attempt | Skip>(held: readonly T[]): T[] {
    const fresh = held.filter(one => !this.#seen.has(one))
    for (const one of fresh) this.#seen.add(one)
    return fresh
  }

  #trace(write: {
    call: string
    node: string
    verb: string | null
    id: string
    before: Job | null
    after: Job | null
    attempts: readonly Attempt[]
    skips: readonly Skip[]
  }): void {
    const { before, after, attempts, skips } = write
    const outcomes = attempts.map(
      a => `#${a.number} run ${a.run}.${a.attempt} ${a.outcome} of ${a.occurrence} (${a.origin})`,
    )
    const skipped = skips.map(s => `skip ${s.reason} ${s.from}..${s.to} x${s.count}`)
    this.line(
      [
        `${write.node} ${write.verb ?? write.call} ${write.id}`,
        `${before?.state ?? '-'}>${after?.state ?? '-'}`,
        after ? rowText(after) : '',
        ...outcomes,
        ...skipped,
      ].join(' '),
    )
  }
}

function rowText(job: Job): string {
  const { counters, current, lease } = job
  return [
    `v${job.version} f${counters.fence} a${counters.attempts} r${counters.runs} c${counters.concluded}`,
    `due ${job.dueAt} next ${job.nextAt} retry ${job.retryAt} floor ${job.floor}`,
    `bl ${job.backlog} crashes ${job.crashes} cur ${current.run}.${current.attempt}/${current.failures}`,
    `lease ${lease ? `${lease.owner} ${lease.until}` : '-'} reqs ${job.requests.length}`,
  ].join(' | ')
}

export function violationText({ inv, jobId, at, text }: Violation, startAt: Instant): string {
  return `${inv} ${jobId} at +${((at - startAt) / 1000).toFixed(3)}s (${at}): ${text}`
}
