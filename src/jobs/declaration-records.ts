// The declarations of running nodes as records: one list per node, in pieces of bounded size, which
// lapse when the node no longer renews them; and per label the jobs that none of them declares.

import { createHash } from 'node:crypto'
import type { LabelState, NodeDeclarations } from '../core/declared/undeclared.ts'
import { limits } from '../core/limits.ts'
import type { StoredRecord } from '../core/record.ts'
import type { JobSpec } from '../core/spec.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import type { Page, Store } from '../store/port.ts'

/** One record per label: the stored jobs that no running node declares. */
export const UNDECLARED_KIND = 'undeclared'
/** Rows in one record: about 25 KB. */
const ROWS_EACH = 1_000

export interface LabelReader {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly settings: EngineSettings
}

function declaringKind(app: string): string {
  return `declaring:${app}`
}

interface Piece {
  readonly kind: string
  readonly key: string
  readonly rows: readonly (readonly [row: string, spec: string])[]
}

function piecesOf(app: string, { nodeId, specs }: NodeDeclarations): Piece[] {
  const all = [...specs]
  const count = Math.max(1, Math.ceil(all.length / ROWS_EACH))
  return Array.from({ length: count }, (_, i) => ({
    kind: declaringKind(app),
    key: `${encodeURIComponent(nodeId)}/${i}`,
    rows: all.slice(i * ROWS_EACH, (i + 1) * ROWS_EACH),
  }))
}

export async function write(
  store: Store,
  app: string,
  node: NodeDeclarations,
  { now, expireAt }: { readonly now: Instant; readonly expireAt: Instant },
): Promise<void> {
  const { nodeId, startedAt, generation, isWorker } = node
  const writes = piecesOf(app, node).map(({ kind, key, rows }) => ({
    kind,
    key,
    value: { nodeId, startedAt, generation, isWorker, specs: Object.fromEntries(rows) },
    expectedVersion: null,
    expireAt,
  }))
  await store.putRecords(writes, now)
}

export async function remove(
  store: Store,
  app: string,
  node: NodeDeclarations,
  now: Instant,
): Promise<void> {
  const gone = { value: null, expectedVersion: null, expireAt: null, remove: true } as const
  const writes = piecesOf(app, node).map(({ kind, key }) => ({ kind, key, ...gone }))
  await store.putRecords(writes, now)
}

/** What every running node of the label declares. */
export async function read(store: Store, app: string, now: Instant): Promise<NodeDeclarations[]> {
  const found = new Map<string, NodeDeclarations & { readonly specs: Map<string, string> }>()
  let cursor: string | null = null
  do {
    const page: Page<StoredRecord> = await store.listRecords(
      declaringKind(app),
      { limit: limits.pageMax, cursor },
      now,
    )
    for (const { value } of page.items) {
      const piece = value as unknown as Omit<NodeDeclarations, 'specs'> & {
        specs: Readonly<Record<string, string>>
      }
      const node = found.get(piece.nodeId) ?? { ...piece, specs: new Map() }
      for (const [row, spec] of Object.entries(piece.specs)) node.specs.set(row, spec)
      found.set(piece.nodeId, node)
    }
    cursor = page.cursor
  } while (cursor !== null)
  return [...found.values()]
}

/** A node that has not renewed its declarations for this long is gone. */
export function lifetimeMs({ metricsMs }: EngineSettings): Millis {
  return metricsMs * 3
}

/** Jobs that no running node declares although nodes of their label run: nobody is late with them. */
export async function undeclaredJobs({
  store,
  clock,
  settings,
}: LabelReader): Promise<ReadonlySet<string>> {
  const now = clock.now()
  const { items } = await store.listRecords(UNDECLARED_KIND, { limit: limits.pageMax }, now)
  const states = items.map(({ value }) => value as unknown as LabelState)
  const fresh = states.filter(({ countedAt }) => now - countedAt <= lifetimeMs(settings))
  return new Set(fresh.flatMap(({ rows }) => rows.map(({ id }) => id)))
}

export function isDeclared(id: string, nodes: readonly NodeDeclarations[]): boolean {
  const row = rowHash(id)
  return nodes.some(({ specs }) => specs.has(row))
}

export function fingerprint(nodes: readonly NodeDeclarations[]): string {
  const starts = nodes.map(({ nodeId, startedAt }) => `${nodeId}@${startedAt}`)
  return hash(starts.sort().join(' '), 18)
}

export function rowHash(id: string): string {
  return hash(id, 12)
}

export function specHash(spec: JobSpec): string {
  return hash(JSON.stringify(spec), 8)
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length)
}
