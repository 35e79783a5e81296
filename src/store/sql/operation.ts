// Operations that both dialects share: generators that yield statements and receive their rows.
// SQLite runs one synchronously inside a transaction, PostgreSQL awaits each statement.

export type Value = null | number | string
/** In the order of the columns. */
export type Row = Value[]

/** Parameters stand as `?`, in order; PostgreSQL numbers them. */
export interface Statement {
  readonly sql: string
  readonly params: readonly Value[]
}

export type Operation<T> = Generator<Statement, T, Row[]>

export function* rowsOf<R extends Row = Row>(
  sql: string,
  ...params: readonly Value[]
): Operation<R[]> {
  return (yield { sql, params }) as R[]
}

export function* rowOf<R extends Row = Row>(
  sql: string,
  ...params: readonly Value[]
): Operation<R | undefined> {
  const rows = yield { sql, params }
  return rows[0] as R | undefined
}

export type RunStatement = (statement: Statement) => Row[]

export function runSync<T>(operation: Operation<T>, run: RunStatement): T {
  let step = operation.next()
  while (step.done !== true) step = operation.next(run(step.value))
  return step.value
}

export async function runAsync<T>(
  operation: Operation<T>,
  run: (statement: Statement) => Promise<Row[]>,
): Promise<T> {
  let step = operation.next()
  while (step.done !== true) step = operation.next(await run(step.value))
  return step.value
}
