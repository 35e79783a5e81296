// Measures that come after their attempt was written.

import type { LateMeasures } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { attemptDetailText, readColumns, toAttempt } from './attempt-row.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'

export function* addMeasures({ jobId, attemptId, measures }: LateMeasures): Operation<boolean> {
  const row = yield* rowOf(
    `select ${readColumns} from attempts a join jobs j on j.seq = a.job where a.id = ? and j.id = ?`,
    toKey(attemptId),
    toKey(jobId),
  )
  const attempt = row ? toAttempt(row) : null
  if (attempt === null || attempt.measures !== null) return false
  const detail = attemptDetailText({ ...attempt, measures })
  yield* rowsOf('update attempts set detail = ? where id = ?', detail, toKey(attemptId))
  return true
}
