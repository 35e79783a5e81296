// Rows that did not decode are written as jobs that failed, so that no claim meets them again.

import type { Instant } from '../../core/time.ts'
import { asideChange, type Damage } from '../shared/damage.ts'
import { toKey } from '../shared/text.ts'
import { commit } from './commit.ts'
import type { Tables } from './tables.ts'

/** Writes down what the last call met. Others may have seen to it, or nothing can be written now. */
export function setAsideNoted(tables: Tables, now: Instant): void {
  for (const damage of tables.damages.take()) {
    try {
      tables.write(() => setAside(tables, damage, now))
      tables.damages.tell(damage.job)
    } catch {
      // The next call that meets it tries again.
    }
  }
}

function setAside(tables: Tables, damage: Damage, now: Instant): void {
  const { id, counters, version } = damage.job
  tables
    .statement(
      `update jobs set attempts = ?, fence = ?, version = ? where id = ? and
        (typeof(attempts) <> 'integer' or typeof(fence) <> 'integer' or typeof(version) <> 'integer')`,
    )
    .run(counters.attempts, counters.fence, version, toKey(id))
  const [result] = commit(tables, [asideChange(damage, now)], { now })
  if (result !== 'conflict') return
  // Never again found by claims, whatever else is wrong with it.
  tables
    .statement('update jobs set ready = null, rank = null, due_at = null where id = ?')
    .run(toKey(id))
}
