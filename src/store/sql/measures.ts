// Measures that come after their attempt was written.

import type { LateMeasures } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { attemptDetailText, readColumns, toAttempt } from './attempt-row.ts'
import { rowOf, type Operation } from './operation.ts'

export function* addMeasures(late: LateMeasures): Operation<boolean> {
  const { jobId, attemptId, measures } = late
  const row = yield* rowOf(
    `select ${readColumns} from attempts a join jobs j on j.seq = a.job where a.id = ? and j.id = ?`,
    toKey(attemptId),
    toKey(jobId),
  )
  const attempt = row ? toAttempt(row) : null
  if (attempt === null || attempt.measures !== null) return false
  const written = yield* rowOf(
    'update attempts set detail = ? where id = ? and detail is not distinct from ? returning 1',
    attemptDetailText({ ...attempt, measures }),
    toKey(attemptId),
    row!.at(-1)!,
  )
  // Another transaction changed the attempt since it was read.
  return written === undefined ? yield* addMeasures(late) : true
}
