// The relational store as SQLite speaks it. Lists are handed over as one JSON text.

import type { Check, Condition, CountChange, Dialect } from '../dialect.ts'
import { rowsOf, type Operation, type Value } from '../operation.ts'

const among = (column: string, values: readonly (string | number)[]): Condition => ({
  sql: `${column} in (select value from json_each(?))`,
  params: [JSON.stringify(values)],
})

function table(columns: string, rows: readonly (readonly Value[])[], alias: string): Condition {
  const values = columns.split(',').map((name, at) => `value ->> ${at} as ${name.trim()}`)
  return {
    sql: `(select ${values.join(', ')} from json_each(?)) ${alias}`,
    params: [JSON.stringify(rows)],
  }
}

const addCountSql = `insert into job_counts (tenant, queue, handler, kind, state, count, pruned)
  values (?, ?, ?, ?, ?, ?, ?) on conflict (tenant, queue, handler, kind, state)
  do update set count = count + excluded.count, pruned = pruned + excluded.pruned`

function* addCounts(changes: readonly CountChange[]): Operation<void> {
  for (const { tenant, queue, handler, kind, state, count, pruned } of changes) {
    yield* rowsOf(addCountSql, tenant, queue, handler, kind, state, count, pruned)
  }
}

const broken: Check = {
  kind: 'damage',
  text: `select quick_check from pragma_quick_check where quick_check <> 'ok' limit ?`,
  keyWidth: 0,
  about: ([what]) => `the file is damaged: ${String(what)}; restore a backup`,
  *repair() {},
}

export const sqliteDialect: Dialect = {
  amongTexts: among,
  amongNumbers: among,
  table,
  // The planner keeps the order of a cross join: without statistics it would only guess.
  crossJoin: 'cross join',
  useIndex: name => `indexed by ${name}`,
  // A transaction that writes has the file to itself.
  lockStates: '',
  lockRows: '',
  keepStates: '',
  *lockRecord() {},
  *lockQueue() {},
  replaceAttempt: (columns, values) =>
    `insert or replace into attempts (${columns}) values (${values})`,
  checks: { broken },
  addCounts,
}
