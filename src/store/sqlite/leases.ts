// Which jobs each claim holds. One record per claim instead of an index entry per job: it is looked
// at only when its lease could have ended, and goes with the last job that is settled.

import type { Instant } from '../../core/time.ts'
import type { Connection } from './connection.ts'

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

  end(token: string, count: number): void {
    this.#ended.set(token, (this.#ended.get(token) ?? 0) + count)
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
