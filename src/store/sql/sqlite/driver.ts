// The one place that knows which SQLite is at hand: Node's own, or the package with the same API.
// Loaded when a database is opened, so importing this module costs nothing.

import { createRequire } from 'node:module'
import type { Row, Value } from '../operation.ts'

/** A prepared statement whose rows come as arrays, in the order of the columns. */
export interface Statement {
  run(...values: Value[]): { changes: number | bigint }
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

/** As the driver has it: rows are objects until it is told otherwise, if it can be. */
type RawStatement = Statement & { setReturnArrays?(isOn: boolean): void }
type RawDatabase = Database & { prepare(sql: string): RawStatement }

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => RawDatabase
}

export function openDatabase(path: string): Database {
  const { DatabaseSync } = builtinModule() ?? packageModule()
  const raw = new DatabaseSync(path)
  return {
    exec: sql => raw.exec(sql),
    prepare: sql => asArrays(raw.prepare(sql)),
    close: () => raw.close(),
  }
}

/** Quietly: some versions of Node warn that it is young, which is for us to know, not for our users. */
function builtinModule(): SqliteModule | undefined {
  const emitWarning = Reflect.get(process, 'emitWarning')
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function packageModule(): SqliteModule {
  return createRequire(import.meta.url)('@photostructure/sqlite') as SqliteModule
}

function asArrays(raw: RawStatement): Statement {
  if (raw.setReturnArrays) {
    raw.setReturnArrays(true)
    return raw
  }
  // Early versions of Node's own know objects only; their keys are in the order of the columns.
  return {
    run: (...values) => raw.run(...values),
    get: (...values) => {
      const row = raw.get(...values)
      return row && Object.values(row)
    },
    all: (...values) => raw.all(...values).map(row => Object.values(row)),
  }
}
