// The store as one node reaches it: every call takes time, may fail before or after it was applied,
// and is written down at the moment it takes effect.

import { bundleOf } from '../../src/core/stored/bundle.ts'
import type { Change } from '../../src/core/change.ts'
import { SchedulerError } from '../../src/core/errors.ts'
import type { Job } from '../../src/core/job.ts'
import type { RecordWrite, StampedWrite } from '../../src/core/record.ts'
import type { Instant } from '../../src/core/time.ts'
import type { Maintenance } from '../../src/store/maintenance.ts'
import type {
  AttemptFilter,
  Bundle,
  ClaimRequest,
  CommitAnswer,
  CommitOptions,
  CommitResult,
  DueCountRequest,
  InsertAnswer,
  InsertOptions,
  JobFilter,
  LateMeasures,
  Route,
  PageRequest,
  PruneRequest,
  RemoveOptions,
  RenewRequest,
  Report,
  Store,
  UpcomingRequest,
} from '../../src/store/port.ts'
import type { Write } from './history.ts'
import type { Recorder, Shown } from './recorder.ts'
import type { NodeClock, WorldClock } from './sim-clock.ts'
import type { Weather } from './weather.ts'

export interface Way {
  /** What is applied; a mutant may sit here. */
  readonly inner: Store
  readonly world: WorldClock
  readonly clock: NodeClock
  readonly weather: Weather
  readonly recorder: Recorder
  readonly node: string
  readonly verb: string | null
  readonly calls: CallLog
}

/** Calls under way, to see which ones met. */
export interface CallLog {
  readonly open: Set<OpenCall>
}

export interface OpenCall {
  readonly name: string
  readonly node: string
  readonly verb: string | null
  readonly ids: readonly string[]
  readonly sentAt: Instant
}

const noneShown: ReadonlyMap<string, Shown> = new Map()

export class SimStore implements Store {
  readonly kind = 'memory'
  readonly isRemote = true
  readonly claimsAtOnce = 2
  readonly promise = 'simulation'
  readonly #way: Way

  constructor(way: Way) {
    this.#way = way
  }

  get maintenance(): Maintenance {
    return this.#way.inner.maintenance
  }

  get node(): string {
    return this.#way.node
  }

  #call<T>(
    name: string,
    ids: readonly string[],
    apply: (sentAt: Instant) => Promise<T>,
  ): Promise<T> {
    const { world, clock, weather, recorder, node, verb, calls } = this.#way
    const fate = weather.fate(node, world.now())
    const open: OpenCall = { name, node, verb, ids, sentAt: world.now() }
    calls.open.add(open)
    return new Promise((resolve, reject) => {
      const answer = (callback: () => void) =>
        world.after(fate.backMs, () => {
          calls.open.delete(open)
          clock.deliver(callback)
        })
      const fail = (when: 'before' | 'after') => {
        recorder.line(`${node} ${name} fails ${when}`)
        const text = `${name}: the way to the store broke ${when} the call was applied`
        answer(() => reject(new SchedulerError('STORE_UNAVAILABLE', text)))
      }
      const applied = async () => {
        try {
          const result = await apply(open.sentAt)
          if (fate.error === 'after' && isTelling(result)) recorder.label(`${name} reply lost`)
          if (fate.error === 'after') fail('after')
          else answer(() => resolve(result))
        } catch (error) {
          answer(() => reject(error))
        }
      }
      world.after(fate.thereMs, () => {
        if (fate.error === 'before') fail('before')
        else void applied()
      })
    })
  }

  #wrote(call: Write['call'], sentAt: Instant, shown = noneShown): Write[] {
    const { recorder, node } = this.#way
    // Whoever creates a job does not claim it: its node does, in the same step.
    const verb = call === 'claim' ? null : this.#way.verb
    return recorder.observe(call, { node, verb, sentAt }, shown)
  }

  async close(): Promise<void> {}

  async now(): Promise<Instant> {
    const { world, recorder, node } = this.#way
    const sentAt = world.now()
    const result = await this.#call('now', [], () => this.#way.inner.now())
    recorder.measures.push({ node, at: world.now(), tookMs: world.now() - sentAt })
    return result
  }

  insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request, ...rest } = options
    const ids = jobs.map(job => job.id)
    return this.#call(request ? 'insertAndClaim' : 'insert', ids, async sentAt => {
      const { results } = await this.#way.inner.insert(jobs, rest)
      this.#wrote('insert', sentAt)
      if (!request) return { results, claimed: [] }
      // Two writes of the same moment: between them nobody else can do anything.
      const claimed = await this.#claimed(request, sentAt)
      if (claimed.length > 0) this.#way.recorder.label('claimed with its insert')
      return { results, claimed }
    })
  }

  claim(request: ClaimRequest): Promise<Job[]> {
    return this.#call('claim', [], sentAt => this.#claimed(request, sentAt))
  }

  async #claimed(request: ClaimRequest, sentAt: Instant): Promise<Job[]> {
    const { recorder, calls, node } = this.#way
    const result = await this.#way.inner.claim(request)
    this.#wrote('claim', sentAt)
    for (const job of result) {
      for (const open of calls.open) {
        if (open.name !== 'commit' && open.name !== 'get') continue
        if (open.ids.includes(job.id) && open.verb === 'pause') recorder.label('pause raced claim')
      }
    }
    const isRace = [...calls.open].some(
      open => open.name === 'claim' && open.node !== node && open.sentAt <= sentAt + 50,
    )
    if (result.length > 0 && isRace) recorder.label('two nodes raced')
    return result
  }

  commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    if (atomic !== undefined) return this.#commitAtomic(bundleOf(changes, atomic), options)
    const ids = changes.map(change => change.job.id)
    return this.#call('commit', ids, async sentAt => {
      const shown = new Map(
        changes.map(({ job, token, expectedVersion }) => [job.id, { token, expectedVersion }]),
      )
      const answer = await this.#way.inner.commit(changes, options)
      const { results } = answer
      const written = new Set(this.#wrote('commit', sentAt, shown).map(write => write.jobId))
      for (const [i, { job }] of changes.entries()) {
        if (results[i] === 'committed') written.delete(job.id)
      }
      for (const [i, change] of changes.entries()) {
        this.#judged(change, results[i]!, written.has(change.job.id))
      }
      return answer
    })
  }

  #commitAtomic(bundle: Bundle, options: CommitOptions): Promise<CommitAnswer> {
    const { inserts, changes, removes } = bundle
    const ids = [...inserts, ...changes.map(({ job }) => job), ...removes].map(({ id }) => id)
    return this.#call('apply', ids, async sentAt => {
      const answer = await this.#way.inner.commit(changes, options)
      this.#wrote('apply', sentAt)
      return answer
    })
  }

  #judged(change: Change, result: CommitResult, isChanged: boolean): void {
    const { recorder, world, node, verb, calls } = this.#way
    if (change.attempt?.outcome === 'succeeded' && verb === null) {
      for (const open of calls.open) {
        const isCancel = open.verb === 'cancel' || open.verb === 'cancel run'
        if (isCancel && open.ids.includes(change.job.id)) recorder.label('cancel raced success')
      }
    }
    if (result === 'committed') return
    const jobId = change.job.id
    recorder.line(`${node} ${verb ?? 'commit'} ${jobId} refused: ${result}`)
    const { token, attempt } = change
    recorder.refusals.push({ at: world.now(), node, jobId, result, token, attempt, isChanged })
  }

  renew(request: RenewRequest) {
    const ids = request.leases.map(lease => lease.id)
    return this.#call('renew', ids, async sentAt => {
      const result = await this.#way.inner.renew(request)
      // A node may name the lease before and the present one of a job: the one that is held renews it.
      const held = request.leases.filter((_, i) => result[i]?.isHeld)
      const shown = new Map(
        (held.length > 0 ? [...request.leases, ...held] : request.leases).map(({ id, token }) => [
          id,
          { token, expectedVersion: null },
        ]),
      )
      this.#wrote('renew', sentAt, shown)
      return result
    })
  }

  remove(ids: readonly string[], options?: RemoveOptions): Promise<boolean[]> {
    return this.#call('remove', ids, async sentAt => {
      const result = await this.#way.inner.remove(ids, options)
      this.#wrote('remove', sentAt)
      return result
    })
  }

  prune(request: PruneRequest) {
    return this.#call('prune', [], async sentAt => {
      const result = await this.#way.inner.prune(request)
      this.#wrote('prune', sentAt)
      const { recorder } = this.#way
      const isWork = result.attempts + result.jobs > 0
      if (isWork && recorder.isAnyRunning()) recorder.label('prune during run')
      return result
    })
  }

  overdue(request: { now: Instant; limit: number }): Promise<Job[]> {
    return this.#call('overdue', [], () => this.#way.inner.overdue(request))
  }
  nextDueAt(routes: readonly Route[]): Promise<Instant | null> {
    return this.#call('nextDueAt', [], () => this.#way.inner.nextDueAt(routes))
  }
  get(ids: readonly string[]): Promise<Job[]> {
    return this.#call('get', ids, () => this.#way.inner.get(ids))
  }
  list(filter: JobFilter, page: PageRequest) {
    return this.#call('list', [], () => this.#way.inner.list(filter, page))
  }
  attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#call('attempts', [], () => this.#way.inner.attempts(filter, page))
  }
  ledger(jobId: string, page: PageRequest) {
    return this.#call('ledger', [], () => this.#way.inner.ledger(jobId, page))
  }
  counts(filter?: { readonly tenant?: string }) {
    return this.#call('counts', [], () => this.#way.inner.counts(filter))
  }
  tenants(page: PageRequest) {
    return this.#call('tenants', [], () => this.#way.inner.tenants(page))
  }
  count(filter: JobFilter, max: number): Promise<number> {
    return this.#call('count', [], () => this.#way.inner.count(filter, max))
  }
  attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#call('attemptTimes', [], () => this.#way.inner.attemptTimes(filter, page))
  }

  countDue(request: DueCountRequest) {
    return this.#call('countDue', [], () => this.#way.inner.countDue(request))
  }

  upcoming(request: UpcomingRequest): Promise<Job[]> {
    return this.#call('upcoming', [], () => this.#way.inner.upcoming(request))
  }
  setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    return this.#call('pauseQueue', [], () => this.#way.inner.setQueuePaused(queue, isPaused))
  }
  pausedQueues(): Promise<string[]> {
    return this.#call('pausedQueues', [], () => this.#way.inner.pausedQueues())
  }
  report(reports: readonly (Report | LateMeasures)[], now: Instant): Promise<boolean[]> {
    return this.#call('report', [], () => this.#way.inner.report(reports, now))
  }
  progress(jobId: string) {
    return this.#call('progress', [], () => this.#way.inner.progress(jobId))
  }
  log(attemptId: string, page: PageRequest) {
    return this.#call('log', [], () => this.#way.inner.log(attemptId, page))
  }
  putRecords(writes: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    return this.#call('putRecords', [], () => this.#way.inner.putRecords(writes, now))
  }
  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#call('getRecords', [], () => this.#way.inner.getRecords(kind, keys, now))
  }
  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#call('listRecords', [], () => this.#way.inner.listRecords(kind, page, now))
  }

  listen(): () => void {
    return () => {}
  }
}

/** Whether losing this answer hides anything. */
function isTelling(result: unknown): boolean {
  const told = isAnswer(result) ? result.results : result
  if (!Array.isArray(told) || told.length === 0) return false
  return typeof told[0] !== 'string' || told.includes('committed')
}

function isAnswer(result: unknown): result is { readonly results: readonly unknown[] } {
  return typeof result === 'object' && result !== null && 'results' in result
}
