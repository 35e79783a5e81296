// Jobs that go, with everything that belongs to them, and what has expired.

import type { PruneRequest, PruneResult, RemoveOptions } from '../port.ts'
import { texts } from './arrays.ts'
import { recordsJson } from './records.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

/** Skips are small and few; one bite takes more of them. */
const SKIPS_FACTOR = 100

export async function remove(
  tables: Tables,
  ids: readonly string[],
  options: RemoveOptions | undefined,
): Promise<boolean[]> {
  if (ids.length === 0) return []
  const unique = [...new Set(ids)]
  const rows = await tables.connection.call(
    `select unnest(${tables.connection.functionName('remove')}($1, $2, $3)) is not null`,
    [texts(unique.map(toKey)), recordsJson(options?.records), options?.now ?? 0],
  )
  const gone = new Set(unique.filter((_, i) => rows[i]![0] === 't'))
  return ids.map(id => gone.delete(id))
}

export async function prune(
  tables: Tables,
  { now, limit, endedTasksMax }: PruneRequest,
): Promise<PruneResult> {
  const skipsMax = limit * SKIPS_FACTOR
  const [row] = await tables.connection.call(
    `select * from ${tables.connection.functionName('prune')}($1, $2, $3, $4)`,
    [now, limit, skipsMax, endedTasksMax],
  )
  await tables.connection.call(
    `select ${tables.connection.functionName('forget_capped')}($1, $2)`,
    [now, limit],
  )
  const [attempts, seen, skips, jobs, records] = row!.map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const isFull = seen === limit || skips === skipsMax || jobs === limit || records === limit
  return { attempts, jobs, records, isFull }
}
