// Measures that come after their attempt was written.

import type { LateMeasures } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { attempts } from './attempts.ts'
import { attemptBody } from './history.ts'
import type { Tables } from './tables.ts'

export async function addMeasures(tables: Tables, late: LateMeasures): Promise<boolean> {
  const { jobId, attemptId: id, measures } = late
  const [attempt] = (await attempts(tables, { jobId, id }, { limit: 1 })).items
  if (attempt === undefined || attempt.measures !== null) return false
  // Whoever wrote it in between wrote measures: the text tells.
  const { connection, schema } = tables
  const written = await connection.rows(
    `update ${schema}.attempts a set body = $1
      where a.job = (select seq from ${schema}.jobs where id = $2) and a.number = $3 and a.body = $4
      returning a.number`,
    [attemptBody({ ...attempt, measures }), toKey(jobId), attempt.number, attemptBody(attempt)],
  )
  return written.length > 0
}
