// Which jobs each claim holds. One record per claim instead of an index entry per job: it is looked
// at only when its lease could have ended, and goes with the last job that is settled.

import type { Instant } from '../../core/time.ts'
import { jobColumns, RUNNING } from './columns.ts'
import type { Connection } from './connection.ts'
import type { Numbered, Tables } from './tables.ts'

export class Leases {
  readonly #connection: Connection
  /** Jobs settled in the present write, by the token of their claim. */
  readonly #ended = new Map<string, number>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  begin(token: string, until: Instant, seqs: readonly number[]): void {
    // A token may be used again by the same holder: its records are joined.
    this.#connection
      .statement(
        `insert into leases values (?1, ?2, ?3, ?4) on conflict (token) do update set
          until_at = min(until_at, excluded.until_at), open = open + excluded.open,
          seqs = (select json_group_array(value) from (select value from json_each(leases.seqs)
            union all select value from json_each(excluded.seqs)))`,
      )
      .run(token, until, seqs.length, JSON.stringify(seqs))
  }

  end(token: string): void {
    this.#ended.set(token, (this.#ended.get(token) ?? 0) + 1)
  }

  flush(): void {
    for (const [token, count] of this.#ended) {
      this.#connection
        .statement('update leases set open = open - ? where token = ?')
        .run(count, token)
      this.#connection.statement('delete from leases where token = ? and open <= 0').run(token)
    }
    this.#ended.clear()
  }

  discard(): void {
    this.#ended.clear()
  }
}

/** Claims looked at in one go; what is left comes with the next look. */
const CLAIMS_MAX = 100

/** Running jobs whose lease ended. Records that are behind the truth are put right on the way. */
export function endedLeases(tables: Tables, now: Instant): Numbered[] {
  const sql =
    'select token, until_at, seqs from leases where until_at <= ? order by until_at limit ?'
  const due = tables.glance(() => tables.statement(sql).all(now, CLAIMS_MAX))
  if (due.length === 0) return []
  return tables.write(() =>
    (tables.statement(sql).all(now, CLAIMS_MAX) as [string, number, string][]).flatMap(
      ([token, until, seqs]) => endedOf(tables, { token, until, seqs }, now),
    ),
  )
}

interface Claim {
  readonly token: string
  readonly until: Instant
  readonly seqs: string
}

function endedOf(tables: Tables, { token, until, seqs }: Claim, now: Instant): Numbered[] {
  const held = tables.numbered(
    `select ${jobColumns} from jobs where seq in (select value from json_each(?))
      and token = ? and state = ${RUNNING}`,
    seqs,
    token,
  )
  const next = Math.min(...held.map(({ job }) => job.lease!.until))
  if (held.length === 0) tables.statement('delete from leases where token = ?').run(token)
  else if (next !== until) {
    // Renewals write only to the jobs; the record learns of them here.
    tables.statement('update leases set until_at = ? where token = ?').run(next, token)
  }
  return held.filter(({ job }) => job.lease!.until <= now)
}
