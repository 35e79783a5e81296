// Jobs that go, with everything that belongs to them.

import { dropJobLogs } from './reports.ts'
import type { Tables } from './tables.ts'
import { toKey } from './text.ts'

export interface Going {
  readonly seq: number
  readonly line: number
  readonly kind: number
  readonly state: number
}

export function remove(tables: Tables, ids: readonly string[]): boolean[] {
  if (ids.length === 0) return []
  return tables.write(() =>
    ids.map(id => {
      const row = tables
        .statement('select seq, line, kind, state, token from jobs where id = ?')
        .get(toKey(id)) as [number, number, number, number, string | null] | undefined
      if (!row) return false
      const [seq, line, kind, state, token] = row
      if (token !== null) tables.leases.end(token)
      tables.tallies.add(line, kind, state, -1)
      removeJob(tables, seq)
      return true
    }),
  )
}

export function removeJob(tables: Tables, seq: number): void {
  dropJobLogs(tables, seq)
  for (const table of ['attempts', 'skips', 'progress']) {
    tables.statement(`delete from ${table} where job = ?`).run(seq)
  }
  tables.statement('delete from specs where seq = ?').run(seq)
  tables.statement('delete from jobs where seq = ?').run(seq)
}
