// Measures that come after their attempt was written.

import type { LateMeasures } from '../store.ts'
import { toKey } from '../shared/text.ts'
import { attemptOf, detailText, readColumns } from './attempt.ts'
import type { Tables } from './tables.ts'

export function addMeasures(tables: Tables, late: LateMeasures): boolean {
  const { jobId, attemptId, measures } = late
  const found = 'job = (select seq from jobs where id = ?) and id = ?'
  const key = [toKey(jobId), toKey(attemptId)]
  return tables.write(() => {
    const row = tables.statement(`select ${readColumns} from attempts a where ${found}`).get(...key)
    const attempt = row ? attemptOf(row, jobId) : null
    if (attempt === null || attempt.measures !== null) return false
    const detail = detailText({ ...attempt, measures })
    tables.statement(`update attempts set detail = ? where ${found}`).run(detail, ...key)
    return true
  })
}
