// Makes the stored jobs of a label match the declared ones: read, decide, one step; again if others
// wrote in between.

import type { Change } from '../core/change.ts'
import {
  reconcile,
  type Declaration,
  type Difference,
  type Orphans,
  type Reconciliation,
  type Undeclared,
} from '../core/declared/reconcile.ts'
import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { RecordWrite } from '../core/record.ts'
import { shortId } from '../core/short-id.ts'
import type { Instant } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Bundle, JobFilter, Page, Refusal, Store } from '../store/port.ts'
import { noDeed, type Also, type Deed } from './audit.ts'

/** Rounds against others who change the same jobs at the same moment. */
const ROUNDS_MAX = 20
/** From this round on, those who may write in pieces do: busy jobs cannot be met all at rest. */
const PIECES_FROM = 10
const PIECE = 100
/** Differences that write nothing. */
const silent: ReadonlySet<Difference['kind']> = new Set(['kept', 'newer', 'undeclared'])

export interface ReconcilingParts {
  readonly store: Store
  readonly clock: Clock
}

export interface Reconciling {
  readonly declarations: readonly Declaration[]
  /** The jobs of this owner; throws when there are more than it takes. */
  readonly read: () => Promise<readonly Job[]>
  readonly generation: string
  readonly orphans: Orphans
  /** What becomes of a stored job that is not declared; dropped at once unless given. */
  readonly undeclared?: (job: Job) => Undeclared
  readonly isProducer?: boolean
  /** All of it in one step, or an error; otherwise what is too busy or too much goes in pieces. */
  readonly isStrict: boolean
  readonly waitingMax?: number | null
  /** What else is written with every deed, in the same step. */
  readonly also?: Also
}

export interface Reconciled {
  readonly differences: readonly Difference[]
  /** Those that were written, as they are now. */
  readonly jobs: readonly Job[]
  readonly removed: readonly string[]
}

/** Every job of the label, up to so many. */
export async function readDeclared(
  store: Store,
  filter: Pick<JobFilter, 'app' | 'tenant'>,
  check: (count: number) => void = () => {},
): Promise<Job[]> {
  const jobs: Job[] = []
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list(filter, { limit: limits.pageMax, cursor })
    jobs.push(...page.items)
    check(jobs.length)
    cursor = page.cursor
  } while (cursor !== null)
  return jobs
}

/** Until nobody else changed anything in between; tells what was done by this call. */
export async function makeMatch(parts: ReconcilingParts, given: Reconciling): Promise<Reconciled> {
  const done = new Done()
  let isUnsure = false
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { plan, stored } = await planned(parts, given)
    const now = parts.clock.now()
    done.see(plan.differences.filter(({ kind }) => silent.has(kind)))
    const isWhole = given.isStrict || (round < PIECES_FROM && sizeOf(plan) <= limits.bundleMax)
    let isRefused = false
    for (const bundle of isWhole ? [plan] : piecesOf(plan)) {
      if (sizeOf(bundle) === 0) continue
      try {
        const refusals = await write(parts.store, given, { bundle, stored, now })
        if (refusals.length === 0) done.add(bundle, plan.differences)
        else isRefused = true
      } catch (error) {
        // It may have been written all the same: the next round sees what there is left to do.
        if (isUnsure || isRefusal(error)) throw error
        isUnsure = true
        isRefused = true
        done.add(bundle, plan.differences)
      }
    }
    if (!isRefused && (await stamped(parts.store, given, plan.stamps, now))) return done.all()
  }
  throw new SchedulerError('REVISION_CONFLICT', 'the declared jobs are being changed elsewhere')
}

function isRefusal(error: unknown): boolean {
  return error instanceof SchedulerError && error.code !== 'STORE_UNAVAILABLE'
}

/** A declared id may belong to a job of somebody else, which is left alone. */
async function planned({ store, clock }: ReconcilingParts, given: Reconciling) {
  const listed = await given.read()
  const stored = [...listed, ...(await unlisted(store, given, listed))]
  const plan = reconcile({ ...given, stored }, clock.now())
  const taken = new Set<string>()
  for (let at = 0; at < plan.inserts.length; at += limits.pageMax) {
    const ids = plan.inserts.slice(at, at + limits.pageMax).map(({ id }) => id)
    for (const job of await store.get(ids)) if (!isOwn(job, given)) taken.add(job.id)
  }
  const isFree = ({ id }: { readonly id: string }) => !taken.has(id)
  return {
    stored,
    plan: {
      ...plan,
      inserts: plan.inserts.filter(isFree),
      differences: plan.differences.filter(isFree),
    },
  }
}

/**
 * Own jobs that the list of the label leaves out: declared by another node meanwhile, or listed wrongly
 * because their row was damaged. As new ones they would be refused for ever.
 */
async function unlisted(store: Store, given: Reconciling, listed: readonly Job[]): Promise<Job[]> {
  const known = new Set(listed.map(({ id }) => id))
  const missing = given.declarations.map(({ id }) => id).filter(id => !known.has(id))
  const found: Job[] = []
  for (let at = 0; at < missing.length; at += limits.pageMax) {
    const jobs = await store.get(missing.slice(at, at + limits.pageMax))
    found.push(...jobs.filter(job => isOwn(job, given)))
  }
  return found
}

/** Declared by another node since the jobs were read: the next round meets it. */
function isOwn({ id, declared }: Job, { declarations }: Reconciling): boolean {
  const own = declarations.find(one => one.id === id)?.declared
  return declared !== null && declared.source !== 'runtime' && declared.app === own?.app
}

interface Writing {
  readonly bundle: Bundle
  readonly stored: readonly Job[]
  readonly now: Instant
}

async function write(
  store: Store,
  given: Reconciling,
  writing: Writing,
): Promise<readonly Refusal[]> {
  const { bundle, stored, now } = writing
  const { waitingMax = null } = given
  const gone = new Set(bundle.removes.map(({ id }) => id))
  const records = [
    ...bundle.inserts.flatMap(job => alsoOf(given, { verb: 'declare', after: job, now })),
    ...stored
      .filter(({ id }) => gone.has(id))
      .flatMap(job => alsoOf(given, { verb: 'forget', before: job, now })),
  ]
  const changes = bundle.changes.map(change => withRecords(given, change, now))
  const atomic = { inserts: bundle.inserts, removes: bundle.removes, records }
  const { refusals } = await store.commit(changes, { now, waitingMax, atomic })
  const full = refusals.find(({ reason }) => reason === 'full')
  if (full) throw new SchedulerError('QUEUE_FULL', `the queue of job ${shortId(full.id)} is full`)
  return refusals
}

/** Each by itself: a job that is busy keeps none of the others waiting. */
async function stamped(
  store: Store,
  given: Reconciling,
  stamps: readonly Change[],
  now: Instant,
): Promise<boolean> {
  if (stamps.length === 0) return true
  const changes = stamps.map(change => withRecords(given, change, now))
  const { results } = await store.commit(changes, { now })
  return results.every(result => result === 'committed')
}

function withRecords(given: Reconciling, change: Change, now: Instant): Change {
  const records = alsoOf(given, { verb: 'declare', after: change.job, now })
  return { ...change, records: [...change.records, ...records] }
}

function alsoOf(
  { also }: Reconciling,
  deed: Partial<Deed> & Pick<Deed, 'verb' | 'now'>,
): readonly RecordWrite[] {
  return also?.({ ...noDeed, ...deed }) ?? []
}

function sizeOf({ inserts, changes, removes }: Bundle): number {
  return inserts.length + changes.length + removes.length
}

function piecesOf({ inserts, changes, removes }: Reconciliation): Bundle[] {
  const none: Bundle = { inserts: [], changes: [], removes: [] }
  return [
    ...cut(removes).map(some => ({ ...none, removes: some })),
    ...cut(changes).map(some => ({ ...none, changes: some })),
    ...cut(inserts).map(some => ({ ...none, inserts: some })),
  ]
}

function cut<T>(items: readonly T[]): T[][] {
  const pieces: T[][] = []
  for (let at = 0; at < items.length; at += PIECE) pieces.push(items.slice(at, at + PIECE))
  return pieces
}

/** What this call has done so far, over all rounds. */
class Done {
  readonly #differences = new Map<string, Difference>()
  readonly #jobs = new Map<string, Job>()
  readonly #removed = new Set<string>()

  see(differences: readonly Difference[]): void {
    for (const difference of differences) this.#differences.set(difference.id, difference)
  }

  add({ inserts, changes, removes }: Bundle, differences: readonly Difference[]): void {
    const jobs = [...inserts, ...changes.map(({ job }) => job)]
    for (const job of jobs) this.#jobs.set(job.id, job)
    for (const { id } of removes) this.#removed.add(id)
    this.see(differences.filter(({ id }) => this.#jobs.has(id) || this.#removed.has(id)))
  }

  all(): Reconciled {
    return {
      differences: [...this.#differences.values()],
      jobs: [...this.#jobs.values()],
      removed: [...this.#removed],
    }
  }
}
