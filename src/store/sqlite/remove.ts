// Jobs that go, with everything that belongs to them.

import type { RemoveOptions } from '../store.ts'
import { putAll } from './records.ts'
import { dropJobLogs } from './reports.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export interface Going {
  readonly seq: number
  readonly line: number
  readonly kind: number
  readonly state: number
}

export function remove(tables: Tables, ids: readonly string[], options?: RemoveOptions): boolean[] {
  if (ids.length === 0) return []
  return tables.write(() => {
    const existed = ids.map(id => removeOne(tables, id))
    if (options && existed.includes(true)) putAll(tables, options.records, options.now)
    return existed
  })
}

/** Inside a write. */
export function removeOne(tables: Tables, id: string): boolean {
  const row = tables
    .statement('select seq, line, kind, state, token from jobs where id = ?')
    .get(toKey(id)) as [number, number, number, number, string | null] | undefined
  if (!row) return false
  const [seq, line, kind, state, token] = row
  if (token !== null) tables.leases.end(token, 1)
  tables.tallies.of(tables.specs.tenantOf(seq)).add(line, kind, state, -1)
  removeJob(tables, seq)
  return true
}

export function removeJob(tables: Tables, seq: number): void {
  dropJobLogs(tables, seq)
  for (const table of ['attempts', 'skips', 'progress']) {
    tables.statement(`delete from ${table} where job = ?`).run(seq)
  }
  tables.statement('delete from specs where seq = ?').run(seq)
  tables.statement('delete from jobs where seq = ?').run(seq)
}
