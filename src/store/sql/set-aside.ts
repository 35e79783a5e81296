// Rows that did not decode are written as jobs that failed, so that no claim meets them again.

import type { Instant } from '../../core/time.ts'
import { asideChange, type Damage } from '../shared/damage.ts'
import { toKey } from '../shared/text.ts'
import { commitChange } from './commit.ts'
import type { Sql } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'

export function* setAside(sql: Sql, damage: Damage, now: Instant): Operation<void> {
  const result = yield* commitChange(sql, asideChange(damage, now), { now })
  if (result !== 'conflict') return
  // Never again found by claims, whatever else is wrong with it.
  yield* rowsOf(
    `update job_states set ready = null, rank = null, due_at = null
      where seq = (select seq from jobs where id = ?)`,
    toKey(damage.job.id),
  )
}
