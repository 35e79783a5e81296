// The declarations of running nodes: each publishes its own under its label, reads those of the
// others, and drops stored jobs that none of them has declared for the whole grace.

import type { Change } from '../core/change.ts'
import { archiveJob } from '../core/control/control.ts'
import { reviveJob } from '../core/control/edit.ts'
import type { Declaration, Orphans, Undeclared } from '../core/declared/reconcile.ts'
import * as undeclared from '../core/declared/undeclared.ts'
import type { LabelState, NodeDeclarations } from '../core/declared/undeclared.ts'
import type { Job } from '../core/job.ts'
import type { JsonObject } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { CorrectedClock } from '../runtime/clock.ts'
import { settledOf, type Events } from '../runtime/events.ts'
import type { Ids } from '../runtime/ids.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import type { Troubles } from '../runtime/troubles.ts'
import type { Store } from '../store/port.ts'
import { auditing, noDeed, type Also } from './audit.ts'
import * as records from './declaration-records.ts'
import { readDeclared } from './reconciling.ts'

const DIFFERING = 'declarations_differ'
/** Names of jobs in one message. */
const NAMES_MAX = 3

export interface DeclarationsParts {
  readonly store: Store
  readonly clock: CorrectedClock
  readonly ids: Ids
  readonly settings: EngineSettings
  readonly events: Events
  readonly troubles: Troubles
}

export interface DeclaredSet {
  readonly app: string
  readonly generation: string
  readonly orphans: Orphans
  readonly declarations: readonly Declaration[]
  /** The set replaces that of every other node at once; nothing waits for a grace. */
  readonly isWhole: boolean
}

/** What a published set knows about the jobs of its label. */
export interface PublishedSet {
  readonly isProducer: boolean
  /** What becomes of a stored job that this node does not declare. */
  readonly fateOf: (job: Job) => Undeclared
  readonly also: Also
}

export class Declarations {
  readonly #parts: DeclarationsParts
  #set: DeclaredSet | null = null
  #own: NodeDeclarations | null = null
  #publishedAt: Instant = 0
  #isConfirmed = false

  constructor(parts: DeclarationsParts) {
    this.#parts = parts
  }

  /** How often the declarations of the label are compared: often enough for a short grace. */
  get pauseMs(): Millis {
    const { metricsMs, orphanGraceMs } = this.#parts.settings
    return Math.min(metricsMs, Math.max(250, Math.floor(orphanGraceMs / 10)))
  }

  /** Before the stored jobs are changed: of two that start at a time, one sees the other. */
  async publish(set: DeclaredSet): Promise<PublishedSet> {
    const { settings, clock, store } = this.#parts
    await clock.measure(() => store.now())
    const isProducer = settings.queues !== null && Object.keys(settings.queues).length === 0
    const { generation, declarations } = set
    this.#set = set
    this.#isConfirmed = false
    this.#own = {
      nodeId: settings.nodeId,
      startedAt: clock.now(),
      generation,
      isWorker: !isProducer,
      specs: new Map(
        declarations.map(({ id, spec }) => [records.rowHash(id), records.specHash(spec)]),
      ),
    }
    await this.#write()
    const others = await this.#others()
    const definitions = new Set(declarations.map(({ declared }) => declared.definition))
    const fateOf = (job: Job): Undeclared => {
      if (set.isWhole) return 'drop'
      if (records.isDeclared(job.id, others)) return 'leave'
      return definitions.has(job.declared?.definition ?? '') ? 'drop' : 'later'
    }
    return { isProducer, fateOf, also: this.#also() }
  }

  /** False when this node declares nothing: then there is nothing to look after. */
  async check(): Promise<boolean> {
    const { settings, clock } = this.#parts
    const set = this.#set
    if (set === null) return false
    if (clock.now() - this.#publishedAt >= settings.metricsMs) await this.#write()
    const others = await this.#others()
    this.#compare(others)
    if (!this.#own!.isWorker || set.isWhole) return true
    if (!this.#isConfirmed) await this.#confirm(set)
    if (set.orphans === 'keep') return true
    await this.#age(set, [this.#own!, ...others])
    return true
  }

  async retire(): Promise<void> {
    const { store, clock } = this.#parts
    const set = this.#set
    if (set === null) return
    this.#set = null
    await records.remove(store, set.app, this.#own!, clock.now())
  }

  async #write(): Promise<void> {
    const { store, clock, settings } = this.#parts
    const now = clock.now()
    const expireAt = now + records.lifetimeMs(settings)
    await records.write(store, this.#set!.app, this.#own!, { now, expireAt })
    this.#publishedAt = now
  }

  async #others(): Promise<NodeDeclarations[]> {
    const { store, clock } = this.#parts
    const nodes = await records.read(store, this.#set!.app, clock.now())
    return nodes.filter(({ nodeId }) => nodeId !== this.#own!.nodeId)
  }

  /** Warns while another running node declares the same jobs differently. */
  #compare(others: readonly NodeDeclarations[]): void {
    const { troubles } = this.#parts
    const own = this.#own!
    for (const other of others) {
      const rows = undeclared.differingRows(own, other, this.#set!.isWhole)
      if (rows.length === 0) continue
      const isLater = other.startedAt > own.startedAt
      const inForce = isLater ? `those of ${other.nodeId}` : 'those of this node'
      const message =
        `${this.#names(rows)} declared differently by this node and by ${other.nodeId} ` +
        `(app ${this.#set!.app}, same generation): ${inForce}, which started later, are in force. ` +
        'Deploy one version, or give each program its own `app` or a rising `generation`'
      troubles.raise({ code: DIFFERING, level: 'warn', isBlocking: false, message })
      return
    }
    troubles.clear(DIFFERING)
  }

  #names(rows: readonly string[]): string {
    const wanted = new Set(rows)
    const names = this.#set!.declarations
      .filter(({ id }) => wanted.has(records.rowHash(id)))
      .map(({ spec }) => spec.name)
    const unique = [...new Set(names)]
    const more = unique.length > NAMES_MAX ? ` and ${unique.length - NAMES_MAX} more` : ''
    const verb = unique.length === 1 ? 'is' : 'are'
    return `${unique.slice(0, NAMES_MAX).join(', ')}${more} ${verb}`
  }

  /**
   * Once after the start: a node that read the declarations just before this one published its own
   * may have archived a job since, and it comes back.
   */
  async #confirm({ declarations, generation }: DeclaredSet): Promise<void> {
    const { store, clock, events } = this.#parts
    for (let at = 0; at < declarations.length; at += limits.pageMax) {
      const some = declarations.slice(at, at + limits.pageMax)
      const byId = new Map(some.map(one => [one.id, one]))
      const now = clock.now()
      const lost = (await store.get([...byId.keys()])).filter(
        job => job.ended?.reason === 'archived' && !undeclared.isOfNewerGeneration(job, generation),
      )
      const changes = lost.map(job => {
        const { spec, declared } = byId.get(job.id)!
        return reviveJob(job, spec, declared, now)
      })
      const { results } = await store.commit(changes, { now })
      const back = changes.filter((_, i) => results[i] === 'committed').map(({ job }) => job)
      if (back.length > 0) events.emit('changed', { verb: 'declare', jobs: back })
    }
    this.#isConfirmed = true
  }

  /** Counts the grace of undeclared rows and drops those whose grace is over. */
  async #age(set: DeclaredSet, nodes: readonly NodeDeclarations[]): Promise<void> {
    const { store, clock, settings } = this.#parts
    const now = clock.now()
    const [record] = await store.getRecords(records.UNDECLARED_KIND, [set.app], now)
    const before = (record?.value ?? null) as LabelState | null
    const counted = undeclared.countLive(before, now, records.lifetimeMs(settings))
    const live = records.fingerprint(nodes)
    const isListed = counted.nodes === live
    const ids = isListed ? [] : await this.#undeclaredIds(set.app, nodes)
    const state = isListed ? counted : undeclared.relist(counted, ids, live)
    // Whoever was faster has counted the same time.
    if (!(await this.#put(set.app, state, record?.version ?? 0))) return
    const dropped = await this.#dropOld(set, state)
    if (dropped.size === 0) return
    await this.#put(set.app, undeclared.unlist(state, dropped), (record?.version ?? 0) + 1)
  }

  async #put(app: string, state: LabelState, expectedVersion: number): Promise<boolean> {
    const { store, clock } = this.#parts
    const value = state as unknown as JsonObject
    const write = {
      kind: records.UNDECLARED_KIND,
      key: app,
      value,
      expectedVersion,
      expireAt: null,
    }
    const [result] = await store.putRecords([write], clock.now())
    return result === 'put'
  }

  async #undeclaredIds(app: string, nodes: readonly NodeDeclarations[]): Promise<string[]> {
    const jobs = await readDeclared(this.#parts.store, { app })
    return jobs
      .filter(job => undeclared.isDroppable(job) && !records.isDeclared(job.id, nodes))
      .map(({ id }) => id)
  }

  /** Archives or forgets those whose time is over; says which need no more looking at. */
  async #dropOld(set: DeclaredSet, state: LabelState): Promise<ReadonlySet<string>> {
    const { store, settings } = this.#parts
    const { orphanGraceMs } = settings
    // The schedules of a definition follow the list of its nodes as soon as no restart explains it.
    const ownMs = Math.min(orphanGraceMs, records.lifetimeMs(settings))
    const ids = undeclared.undeclaredFor(state, ownMs)
    const over = new Set(undeclared.undeclaredFor(state, orphanGraceMs))
    const definitions = new Set(set.declarations.map(({ declared }) => declared.definition))
    const done = new Set<string>()
    for (let at = 0; at < ids.length; at += limits.pageMax) {
      const some = ids.slice(at, at + limits.pageMax)
      const jobs = (await store.get(some)).filter(undeclared.isDroppable)
      const stored = new Set(jobs.map(({ id }) => id))
      for (const id of some) if (!stored.has(id)) done.add(id)
      const old = jobs.filter(
        job =>
          (over.has(job.id) || definitions.has(job.declared!.definition)) &&
          // One that runs is dropped when its run is over.
          job.state !== 'running' &&
          !undeclared.isOfNewerGeneration(job, set.generation),
      )
      for (const id of await this.#drop(set, old)) done.add(id)
    }
    return done
  }

  /** One that somebody else changed meanwhile is left for the next round. */
  async #drop({ app, orphans }: DeclaredSet, jobs: readonly Job[]): Promise<string[]> {
    if (jobs.length === 0) return []
    const { store, events, clock } = this.#parts
    const now = clock.now()
    const also = this.#also()
    if (orphans === 'forget') {
      const ids = jobs.map(({ id }) => id)
      const deeds = jobs.flatMap(job => also({ ...noDeed, verb: 'forget', before: job, now }))
      const removed = await store.remove(ids, { now, records: deeds })
      const forgotten = jobs.filter((_, i) => removed[i])
      events.emit('undeclared', { jobs: forgotten, app, as: 'forgotten' })
      events.emit('removed', { ids: forgotten.map(({ id }) => id) })
      return ids
    }
    const changes = jobs.map(before => {
      const change = archiveJob(before, now)
      const deeds = also({ ...noDeed, verb: 'archive', before, after: change.job, now })
      return { ...change, records: [...change.records, ...deeds] }
    })
    const { results } = await store.commit(changes, { now })
    const archived = changes.filter((_, i) => results[i] === 'committed')
    if (archived.length > 0) tellArchived(events, archived, app)
    return archived.map(({ job }) => job.id)
  }

  /** Archiving and forgetting are audited as deeds of the node; declaring is not. */
  #also(): Also {
    const { ids, settings } = this.#parts
    const actor = { sub: `node:${settings.nodeId}`, tenant: '*', ip: null, requestId: null }
    const audit = auditing(actor, ids)
    return deed => {
      const isArchived = deed.after?.ended?.reason === 'archived'
      if (!isArchived && deed.verb !== 'forget') return []
      return audit({
        ...deed,
        verb: isArchived ? 'archive' : 'forget',
        reason: 'no longer declared',
      })
    }
  }
}

export function tellArchived(events: Events, changes: readonly Change[], app: string): void {
  const jobs = changes.map(({ job }) => job)
  events.emit('undeclared', { jobs, app, as: 'archived' })
  events.emit('changed', { verb: 'archive', jobs })
  events.emit('settled', { settled: changes.map(settledOf) })
}
