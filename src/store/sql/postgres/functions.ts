// The functions of the server: files of SQL, installed by content. The name of each ends with a hash of
// all of them, so sets of several programs lie side by side, and none is ever replaced while it is used.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Called by statements of this program. They bring their settings, whatever pooler lies between. */
const called = ['lease_jobs', 'sum_counts', 'take_due', 'take_limited'] as const

/** Called by other functions, whose settings hold already. */
const inner = [
  'in_turn',
  'keep_turn',
  'lane_room',
  'lane_rows',
  'make_ready',
  'move_turn',
  'next_lane',
  'next_tenant',
  'serve_lanes',
  'serve_tenants',
  'spend_limits',
  'tenant_room',
  'tenants_due',
  'tenants_from',
  'turn_at',
  'turns',
] as const

export type FunctionName = (typeof called)[number] | (typeof inner)[number]
export const functionNames: readonly FunctionName[] = [...called, ...inner]

/**
 * Plans look rows up by index, whatever the statistics of a table that is emptied and filled all the
 * time say, and they touch rows in the order they are given in.
 */
const settings = [
  'search_path = pg_catalog',
  'jit = off',
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_bitmapscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  "lock_timeout = '10s'",
]

const HASH_LENGTH = 10

interface FunctionSet {
  readonly hash: string
  readonly texts: ReadonlyMap<FunctionName, string>
}

let known: FunctionSet | null = null

function functionSet(): FunctionSet {
  if (known !== null) return known
  const texts = new Map(functionNames.map(name => [name, sqlFile(fileOf(name))]))
  const content = [...texts.values(), ...called, ...settings].join('\n')
  const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH)
  known = { hash, texts }
  return known
}

function fileOf(name: FunctionName): string {
  return `functions/${name.replaceAll('_', '-')}.sql`
}

/** A file beside this one. */
export function sqlFile(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

/** As statements of this program name it. */
export function functionIn(schema: string, name: FunctionName): string {
  return `${schema}.${name}_${functionSet().hash}`
}

/** Files are written for the schema `carillon` and for functions without a hash. */
export function rendered(text: string, schema: string): string {
  const names: ReadonlySet<string> = new Set(functionNames)
  const isFunction = (name: string): name is FunctionName => names.has(name)
  return text.replaceAll(/\bcarillon\.(\w+)(\(?)/g, (_, name: string, bracket: string) =>
    bracket === '(' && isFunction(name)
      ? `${functionIn(schema, name)}(`
      : `${schema}.${name}${bracket}`,
  )
}

/** The SQL that makes all functions. */
export function functionsSql(schema: string): string {
  const made = [...functionSet().texts.values()].map(text =>
    rendered(text, schema).replace('create function', 'create or replace function'),
  )
  const set = settings.map(setting => `set ${setting}`).join(' ')
  const altered = called.map(name => `alter function ${functionIn(schema, name)} ${set};`)
  return [...made, ...altered].join('\n')
}

/** What the names of this program's functions end with. */
export function functionsHash(): string {
  return functionSet().hash
}
