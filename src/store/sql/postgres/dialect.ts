// The relational store as PostgreSQL speaks it. Lists are handed over as arrays.

import type { Check, Condition, CountChange, Dialect } from '../dialect.ts'
import { rowsOf, type Operation, type Value } from '../operation.ts'
import { numbers, texts } from './arrays.ts'
import { columnsOf, unnested } from './columns.ts'

const among = (type: string, list: string, column: string): Condition => ({
  sql: `${column} = any (?::${type}[])`,
  params: [list],
})

function table(columns: string, rows: readonly (readonly Value[])[], alias: string): Condition {
  const { sql, params } = unnested(columnsOf(columns), rows)
  return { sql: `${sql} ${alias} (${columns})`, params }
}

const countColumns = 'tenant, queue, handler, kind, state, count, pruned'

function* addCounts(changes: readonly CountChange[]): Operation<void> {
  const rows = changes.map(({ tenant, queue, handler, kind, state, count, pruned }) => {
    return [tenant, queue, handler, kind, state, count, pruned]
  })
  const { sql, params } = table(countColumns, rows, 'c')
  yield* rowsOf(`insert into count_changes select * from ${sql}`, ...params)
}

/** Two writers of one record: the second waits for the first, also where there is none yet. */
function* lockRecord(kind: string, key: string): Operation<void> {
  yield* lock(`record ${kind} ${key}`)
}

/** Two bounded inserts into one queue. */
function* lockQueue(queue: string): Operation<void> {
  yield* lock(`queue ${queue}`)
}

function* lock(name: string): Operation<void> {
  yield* rowsOf('select pg_advisory_xact_lock(hashtextextended(?, 0))', `carillon ${name}`)
}

/** A job's number must not be given twice. */
const numberTaken = (schema: string): Check => {
  const next = `(select last_value from ${schema}.jobs_seq_seq)`
  return {
    kind: 'number',
    text: `select max(seq), ${next} from jobs having max(seq) > ${next} limit ?`,
    keyWidth: 0,
    about: ([taken, last]) => `the next job gets number ${Number(last) + 1}, but ${taken} is taken`,
    *repair() {
      yield* rowsOf(
        `select setval('${schema}.jobs_seq_seq', greatest(${next}, max(seq))) from jobs`,
      )
    },
  }
}

/** Of the store in a schema. */
export function postgresDialect(schema: string): Dialect {
  return {
    amongTexts: (column, values) => among('text', texts(values), column),
    amongNumbers: (column, values) => among('bigint', numbers(values), column),
    table,
    crossJoin: 'join',
    useIndex: () => '',
    lockStates: 'for update of s',
    lockRows: 'for update skip locked',
    keepStates: 'for key share',
    lockRecord,
    lockQueue,
    replaceAttempt: (columns, values) => {
      const sets = columns.split(',').map(column => `${column} = excluded.${column.trim()}`)
      return `insert into attempts (${columns}) values (${values})
        on conflict (job, number) do update set ${sets.join()}`
    },
    checks: { numberTaken: numberTaken(schema) },
    addCounts,
  }
}
