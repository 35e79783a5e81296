// The port through which records go to tables, and the names those tables have.

import { createHash } from 'node:crypto'
import { specDefaults } from '../core/spec.ts'
import type { Instant } from '../core/time.ts'

export interface PageOfRows {
  readonly tenant: string
  readonly table: string
  readonly source: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly at: Instant
}

export interface Row {
  /** The same for the same record of the same source: it is kept once. */
  readonly key: string
  /** In the order of the columns. */
  readonly values: readonly (string | null)[]
}

export interface SourceTables {
  /** All rows of the page or none; says how many were new. Makes the table when there is none. */
  write(page: PageOfRows): Promise<number>
  /** What a source has left in a table; says how many rows. */
  removeRows(from: Pick<PageOfRows, 'tenant' | 'table' | 'source'>): Promise<number>
  close(): Promise<void>
}

/** Every table has these; the first two are the original's, the third makes repeats harmless. */
export const SOURCE_COLUMN = 'source_name'
export const CREATED_COLUMN = 'created_at'
export const KEY_COLUMN = 'row_key'

/** Names that are ours, or the database's own. */
export const ownColumns: ReadonlySet<string> = new Set([
  SOURCE_COLUMN,
  CREATED_COLUMN,
  KEY_COLUMN,
  'rowid',
  'oid',
  '_rowid_',
  'tableoid',
  'xmin',
  'xmax',
  'cmin',
  'cmax',
  'ctid',
])

/** What PostgreSQL takes for a name; longer ones it would cut without a word. */
export const NAME_MAX = 63
const HASH_LENGTH = 20

/**
 * A tenant as part of a name. SQLite does not tell large from small letters, so a tenant with any
 * of the former, or a very long one, is named by a hash. No tenant has a `~` in it.
 */
function tenantPart(tenant: string): string {
  return /^[a-z0-9_.:@-]{1,40}$/.test(tenant) ? tenant : `~${hashOf(tenant)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

/** In SQLite by prefix: the store's own tables begin with neither `data_` nor `data/`. */
export function sqliteName(tenant: string, table: string): string {
  return tenant === specDefaults.tenant ? `data_${table}` : `data/${tenantPart(tenant)}/${table}`
}

/** In PostgreSQL by schema: no store can live in one with a slash in its name. */
export function postgresSchema(storeSchema: string, tenant: string): string {
  const base = `${storeSchema}_data`
  const name = tenant === specDefaults.tenant ? base : `${base}/${tenantPart(tenant)}`
  if (name.length <= NAME_MAX) return name
  return `${name.slice(0, NAME_MAX - HASH_LENGTH - 1)}~${hashOf(name)}`
}

/** Names are white-listed before they come here; this only keeps them from meaning anything else. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
