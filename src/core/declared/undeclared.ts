// Which stored jobs of a label no running node declares, and for how long: the grace after which
// they are archived runs only while nodes of the label do. Pure; the engine reads and writes.

import { isEnded, type Job } from '../job.ts'
import { compareGenerations } from './generation.ts'
import type { Instant, Millis } from '../time.ts'

/** What one running node declares, by hashes: of row ids, and of the specs declared for them. */
export interface NodeDeclarations {
  readonly nodeId: string
  readonly startedAt: Instant
  readonly generation: string
  /** Whether it runs jobs; a process that only enqueues protects rows and ages none. */
  readonly isWorker: boolean
  readonly specs: ReadonlyMap<string, string>
}

/** A row that no running node declares, since the label had been live for so long. */
export interface UndeclaredRow {
  readonly id: string
  readonly sinceMs: Millis
}

/** What the nodes of a label keep in common. */
export interface LabelState {
  /** How long nodes of the label have been running, in sum; gaps without any add nothing. */
  readonly liveMs: Millis
  readonly countedAt: Instant
  /** The nodes that ran when `rows` was listed: it holds as long as they do. */
  readonly nodes: string
  readonly rows: readonly UndeclaredRow[]
  /** There are more undeclared rows than the list takes. */
  readonly isCut: boolean
}

/** Rows listed at a time; those beyond wait until the first are archived. */
export const UNDECLARED_MAX = 500

const unseen = { liveMs: 0, nodes: '', rows: [], isCut: false } as const

/** Adds the time since the last count, unless nobody was there to count for longer than that. */
export function countLive(before: LabelState | null, now: Instant, gapMaxMs: Millis): LabelState {
  if (before === null) return { ...unseen, countedAt: now }
  const passedMs = now - before.countedAt
  const isLive = passedMs > 0 && passedMs <= gapMaxMs
  return { ...before, liveMs: before.liveMs + (isLive ? passedMs : 0), countedAt: now }
}

/** The list anew; a row that was on it before keeps its time. */
export function relist(state: LabelState, ids: readonly string[], nodes: string): LabelState {
  const known = new Map(state.rows.map(({ id, sinceMs }) => [id, sinceMs]))
  const listed = ids.slice(0, UNDECLARED_MAX)
  const rows = listed.map(id => ({ id, sinceMs: known.get(id) ?? state.liveMs }))
  return { ...state, nodes, rows, isCut: ids.length > UNDECLARED_MAX }
}

/** Without those that were dealt with; what did not fit on the list is then looked for. */
export function unlist(state: LabelState, ids: ReadonlySet<string>): LabelState {
  const rows = state.rows.filter(({ id }) => !ids.has(id))
  return { ...state, rows, nodes: state.isCut ? '' : state.nodes }
}

/** Those that have been undeclared for so long while the label was live. */
export function undeclaredFor(state: LabelState, ms: Millis): string[] {
  return state.rows.filter(row => state.liveMs - row.sinceMs >= ms).map(({ id }) => id)
}

/** Whether declarations decide about the job: one that ended, or was added by a call, stays. */
export function isDroppable(job: Job): boolean {
  if (job.declared === null || job.declared.source === 'runtime') return false
  return !isEnded(job) || job.state === 'failed'
}

export function isOfNewerGeneration({ declared }: Job, generation: string): boolean {
  return compareGenerations(declared?.generation ?? '', generation) > 0
}

/**
 * Rows that two nodes of equal generation declare differently; the later start is in force. Where
 * a set replaces the other as a whole, also those that the other does not have.
 */
export function differingRows(
  own: NodeDeclarations,
  other: NodeDeclarations,
  isWhole = false,
): string[] {
  if (!own.isWorker || !other.isWorker || own.nodeId === other.nodeId) return []
  if (compareGenerations(own.generation, other.generation) !== 0) return []
  return [...own.specs.keys()].filter(row => {
    const spec = other.specs.get(row)
    return spec === undefined ? isWhole : spec !== own.specs.get(row)
  })
}
