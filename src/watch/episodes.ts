// Makes episodes of incidents, looks for runs that are missing and for recoveries, and tells of each
// step once: whichever node writes it emits the alert.

import { messageWrite } from '../core/alerts/alert-message.ts'
import {
  EPISODE_KIND,
  episodeWrite,
  foldIncidents,
  MISSING_KIND,
  readEpisode,
  subjectKey,
  succeeded,
  type Episode,
  type EpisodeStep,
} from '../core/alerts/episode.ts'
import { INCIDENT_KIND, readIncident, subjectOf } from '../core/alerts/incident.ts'
import { isEnded, type Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { removalOf, type StoredRecord } from '../core/record.ts'
import { WORKFLOW_ACTION } from '../core/spec/action-name.ts'
import { MINUTE, SECOND, type Instant, type Millis } from '../core/time.ts'
import { Repeat } from '../runtime/repeat.ts'
import type { Store } from '../store/port.ts'
import {
  checkMissing,
  hasOverdue,
  skippedRuns,
  type AlertStep,
  type EpisodeParts,
} from './missing-runs.ts'

/** Incidents of one moment are told together. */
const GATHER_MS: Millis = 200
/** The bounds of the time between two looks; what happens on a node itself wakes it. */
const LOOK_MIN_MS: Millis = SECOND
const LOOK_MAX_MS: Millis = MINUTE
/** A missing run is told at most a fifth of its limit late. */
const LOOKS_PER_LIMIT = 5
/** While all is well, every so many looks read what nodes that are gone may have left. */
const WHOLE_EVERY = 5
const BATCHES_MAX = 20
/** Definitions and workflows whose recovery is looked for in one round, in turns. */
const DEFINITIONS_MAX = 20
/** Tasks of a definition looked at for a success. */
const TASKS_MAX = 20
/** The same for a workflow, whose runs lie among those of the other workflows of its tenant. */
const WORKFLOW_RUNS_MAX = limits.pageMax

export class Episodes {
  readonly #parts: EpisodeParts
  readonly #looks: Repeat
  #cancelTimer: (() => void) | null = null
  #stopListening: (() => void) | null = null
  /** Where the next page of open episodes begins. */
  #cursor: string | null = null
  /** The definition or workflow looked at last. */
  #lastLooked: string | null = null
  #hasNews = false
  /** Keys of definitions that fail: while there are any, successes of their tasks are listened for. */
  readonly #failing = new Set<string>()
  /** How many looks ago all was read and nothing was wrong; 0 while something is. */
  #quietLooks = 0
  #stopWatching: (() => void) | null = null

  constructor(parts: EpisodeParts) {
    this.#parts = parts
    this.#looks = new Repeat(
      parts.clock,
      () => checkMs(parts.settings),
      () => this.#guarded(),
    )
  }

  start(): void {
    this.#stopListening ??= this.#parts.events.on('incidents', () => {
      this.#hasNews = true
      this.#arm()
    })
    this.#looks.start()
  }

  #arm(): void {
    if (this.#stopListening === null) return
    this.#cancelTimer ??= this.#parts.clock.after(GATHER_MS, () => {
      this.#cancelTimer = null
      void this.#looks.now()
    })
  }

  #watch(): void {
    if (this.#failing.size === 0 || this.#stopListening === null) {
      this.#stopWatching?.()
      this.#stopWatching = null
      return
    }
    this.#stopWatching ??= this.#parts.events.on('settled', ({ settled }) => {
      const isOver = settled.some(
        ({ job, attempt }) =>
          attempt?.outcome === 'succeeded' && this.#failing.has(subjectKey(subjectOf(job))),
      )
      if (isOver) this.#arm()
    })
  }

  /** What cannot be read or written now is judged in the next round. */
  async #guarded(): Promise<boolean> {
    try {
      await this.look()
    } catch (error) {
      this.#parts.events.emit('error', { kind: 'store', error, during: 'check of alerts' })
    }
    // What came while this round was under way.
    if (this.#hasNews) this.#arm()
    return true
  }

  async look(): Promise<void> {
    if (await this.#isQuiet()) return
    this.#hasNews = false
    const incidents = await this.#foldIncidents()
    const open = await this.#checkRecoveries()
    const isMissing = await checkMissing(this.#parts, step => this.#write(step))
    this.#quietLooks = incidents + open === 0 && !isMissing ? 1 : 0
    this.#watch()
  }

  /** One cheap question instead of four, while nothing was wrong and nothing is overdue. */
  async #isQuiet(): Promise<boolean> {
    if (this.#hasNews || this.#quietLooks === 0 || this.#quietLooks >= WHOLE_EVERY) return false
    this.#quietLooks++
    return !(await hasOverdue(this.#parts))
  }

  async stop(): Promise<void> {
    this.#cancel()
    if (this.#hasNews) await this.#foldIncidents().catch(() => {})
    await this.#looks.stop()
  }

  /** As if the process had died. */
  abandon(): void {
    this.#cancel()
    void this.#looks.stop()
  }

  #cancel(): void {
    this.#stopListening?.()
    this.#stopListening = null
    this.#watch()
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }

  /** Returns how many there were. */
  async #foldIncidents(): Promise<number> {
    const { store, clock } = this.#parts
    let count = 0
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const page = { limit: limits.pageMax }
      const { items, cursor } = await store.listRecords(INCIDENT_KIND, page, clock.now())
      if (items.length > 0) await this.#foldBatch(items)
      count += items.length
      if (cursor === null) return count
    }
    return count
  }

  async #foldBatch(batch: readonly StoredRecord[]): Promise<void> {
    const { store, clock } = this.#parts
    const bySubject = bySubjectKey(batch)
    const keys = [...bySubject.keys()]
    const now = clock.now()
    const held = await store.getRecords(EPISODE_KIND, keys, now)
    const heldByKey = new Map(held.map(record => [record.key, record]))
    for (const [key, own] of bySubject) {
      const episode = heldByKey.get(key)
      const incidents = own
        .map(record => ({ ...readIncident(record), key: record.key }))
        .sort((a, b) => a.at - b.at)
      const step = foldIncidents(episode ? readEpisode(episode) : null, incidents)
      const skipped = await skippedRuns(store, incidents, now)
      const records = [...own.map(removalOf), ...skipped.records]
      if (step.episode !== null) records.push(episodeWrite(key, step.episode, episode))
      await this.#write({ records, alerts: [...step.alerts, ...skipped.alerts] })
    }
  }

  /** Atomically, so that each alert is told by the node that wrote the step, and by no other. */
  async #write({ records, alerts }: AlertStep): Promise<void> {
    const { store, clock, events, settings } = this.#parts
    const messages = alerts.map(alert => messageWrite(alert, settings.nodeId))
    const now = clock.now()
    const atomic = { records: [...records, ...messages] }
    const { refusals } = await store.commit([], { now, atomic })
    if (refusals.length > 0) return
    for (const alert of alerts) events.emit('alerted', { alert })
  }

  /** A page of the open episodes at a time: who succeeded since, and who is gone. Returns how many. */
  async #checkRecoveries(): Promise<number> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const request = { limit: limits.pageMax, cursor: this.#cursor }
    const page = await store.listRecords(EPISODE_KIND, request, now)
    this.#cursor = page.cursor
    const open = page.items.filter(record => readEpisode(record).closedAt === null)
    this.#failing.clear()
    const left = open.length + (page.cursor === null ? 0 : 1)
    if (open.length === 0) return left
    const ofJobs = open.filter(record => readEpisode(record).subject.kind === 'job')
    await this.#checkJobs(ofJobs)
    const others = open.filter(record => !ofJobs.includes(record))
    for (const record of this.#inTurn(others)) {
      if (!(await this.#hasRecovered(record))) this.#failing.add(record.key)
    }
    return left
  }

  async #checkJobs(records: readonly StoredRecord[]): Promise<void> {
    if (records.length === 0) return
    const { store } = this.#parts
    const jobs = await store.get(records.map(record => readEpisode(record).subject.id))
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const record of records) {
      const episode = readEpisode(record)
      const job = byId.get(episode.subject.id)
      // One that is gone or was ended by hand has nothing to be alarmed about any more.
      if (!job || isEndedByHand(job)) {
        await this.#write({ records: [removalOf(record)], alerts: [] })
        continue
      }
      if (job.last?.outcome !== 'succeeded') continue
      await this.#recover(record, succeeded(episode, job.last.finishedAt))
    }
  }

  /** Goes on behind the last one of the look before. */
  #inTurn(records: readonly StoredRecord[]): readonly StoredRecord[] {
    const last = records.findIndex(({ key }) => key === this.#lastLooked)
    const inTurn = [...records.slice(last + 1), ...records.slice(0, last + 1)]
    const looked = inTurn.slice(0, DEFINITIONS_MAX)
    this.#lastLooked = looked.at(-1)?.key ?? null
    return looked
  }

  async #hasRecovered(record: StoredRecord): Promise<boolean> {
    const { store } = this.#parts
    const episode = readEpisode(record)
    const { kind, tenant, name } = episode.subject
    const isWorkflow = kind === 'workflow'
    const handler = isWorkflow ? WORKFLOW_ACTION : name
    const filter = { kind: 'task', tenant, handler, states: ['completed'] } as const
    const limit = isWorkflow ? WORKFLOW_RUNS_MAX : TASKS_MAX
    const { items } = await store.list(filter, { limit, newestFirst: true })
    const own = items.filter(job => subjectKey(subjectOf(job)) === record.key)
    const at = Math.max(0, ...own.map(({ last }) => last?.succeededAt ?? 0))
    if (at <= episode.failedAt) return false
    await this.#recover(record, succeeded(episode, at))
    return true
  }

  async #recover(record: StoredRecord, { episode, alerts }: EpisodeStep): Promise<void> {
    if (alerts.length === 0) return
    await this.#write({ records: [episodeWrite(record.key, episode!, record)], alerts })
  }
}

function checkMs({ missingMs }: EpisodeParts['settings']): Millis {
  return Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, missingMs / LOOKS_PER_LIMIT))
}

function isEndedByHand(job: Job): boolean {
  return isEnded(job) && job.state !== 'failed' && job.last?.outcome !== 'succeeded'
}

function bySubjectKey(records: readonly StoredRecord[]): Map<string, StoredRecord[]> {
  const groups = new Map<string, StoredRecord[]>()
  for (const record of records) {
    const key = subjectKey(readIncident(record).subject)
    const group = groups.get(key)
    if (group) group.push(record)
    else groups.set(key, [record])
  }
  return groups
}

/** Episodes under way, as many as fit a page: for /attention. */
export async function openEpisodes(
  store: Store,
  kind: typeof EPISODE_KIND | typeof MISSING_KIND,
  now: Instant,
): Promise<readonly Episode[]> {
  const { items } = await store.listRecords(kind, { limit: limits.pageMax }, now)
  return items.map(readEpisode).filter(({ closedAt }) => closedAt === null)
}
