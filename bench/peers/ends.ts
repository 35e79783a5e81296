// When the jobs of a peer on PostgreSQL are recorded as done: after the last handler its table is asked.

import pg from 'pg'
import { Tally } from '../side/contender.ts'

const LOOK_MS = 2

export class Ends {
  readonly started = new Tally()
  readonly #pool: pg.Pool
  readonly #left: string

  /** `left` counts what is not recorded as done yet. */
  constructor(url: string, left: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 1 })
    this.#left = left
  }

  async done(count: number): Promise<void> {
    await this.started.reached(count)
    for (;;) {
      const { rows } = await this.#pool.query(this.#left)
      if (Number(rows[0].left) === 0) return
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
