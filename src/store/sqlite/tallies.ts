// How many jobs of each line, kind and state there are: summed while a write goes on and written
// with it, one statement per number that changed.

import type { Count } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Lines } from './lines.ts'
import { kinds, states, WAITING } from './columns.ts'
import { toKey } from './text.ts'

interface Delta {
  readonly line: number
  readonly kind: number
  readonly state: number
  n: number
  pruned: number
}

export class Tallies {
  readonly #connection: Connection
  readonly #lines: Lines
  readonly #deltas = new Map<number, Delta>()
  /** Waiting jobs by queue as they were when the write began. */
  readonly #waiting = new Map<string, number>()

  constructor(connection: Connection, lines: Lines) {
    this.#connection = connection
    this.#lines = lines
  }

  add(line: number, kind: number, state: number, n: number): void {
    this.#delta(line, kind, state).n += n
  }

  addPruned(line: number, kind: number, state: number): void {
    const delta = this.#delta(line, kind, state)
    delta.n -= 1
    delta.pruned += 1
  }

  /** Waiting jobs of the queue, with what this write did so far. */
  waiting(queue: string): number {
    let count = this.#waiting.get(queue)
    if (count === undefined) {
      const row = this.#connection
        .statement(
          `select coalesce(sum(n), 0) from tallies join lines on lines.id = tallies.line
            where lines.queue = ? and state = ${WAITING}`,
        )
        .get(toKey(queue))
      count = row![0] as number
      this.#waiting.set(queue, count)
    }
    for (const { line, state, n } of this.#deltas.values()) {
      if (state === WAITING && this.#lines.nameOf(line).queue === queue) count += n
    }
    return count
  }

  /** Inside the write, at its end. */
  flush(): void {
    for (const { line, kind, state, n, pruned } of this.#deltas.values()) {
      if (n === 0 && pruned === 0) continue
      this.#connection
        .statement(
          `insert into tallies values (?, ?, ?, ?, ?) on conflict (line, kind, state)
            do update set n = n + excluded.n, pruned = pruned + excluded.pruned`,
        )
        .run(line, kind, state, n, pruned)
    }
    this.discard()
  }

  discard(): void {
    this.#deltas.clear()
    this.#waiting.clear()
  }

  counts(): Count[] {
    const rows = this.#connection
      .statement('select * from tallies where n <> 0 or pruned <> 0 order by line, kind, state')
      .all() as [number, number, number, number, number][]
    return rows.map(([line, kind, state, count, pruned]) => ({
      ...this.#lines.nameOf(line),
      kind: kinds[kind]!,
      state: states[state]!,
      count,
      pruned,
    }))
  }

  /** For tests: what is counted differently from what is there. */
  differences(): string[] {
    return this.#connection
      .statement(
        `with truth as (
          select line, kind, state, count(*) as n from jobs group by line, kind, state
        ), told as (select line, kind, state, n from tallies where n <> 0)
        select 'missing', * from (select * from truth except select * from told)
        union all select 'wrong', * from (select * from told except select * from truth)`,
      )
      .all()
      .map(row => row.join(' '))
  }

  #delta(line: number, kind: number, state: number): Delta {
    const key = (line * kinds.length + kind) * states.length + state
    const held = this.#deltas.get(key)
    if (held) return held
    const made = { line, kind, state, n: 0, pruned: 0 }
    this.#deltas.set(key, made)
    return made
  }
}
