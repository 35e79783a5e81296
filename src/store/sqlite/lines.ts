// A number for each queue and handler in it. Numbers are given once and for good, so those that
// are known stay true whatever other processes do.

import type { Connection } from './connection.ts'
import { fromKey, toKey } from '../shared/text.ts'

export interface LineName {
  readonly queue: string
  readonly handler: string
}

export class Lines {
  readonly #connection: Connection
  readonly #ids = new Map<string, Map<string, number>>()
  readonly #names = new Map<number, LineName>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Null while no job of this line was ever stored. */
  find(queue: string, handler: string): number | null {
    const known = this.#ids.get(queue)?.get(handler)
    if (known !== undefined) return known
    const row = this.#connection
      .statement('select id from lines where queue = ? and handler = ?')
      .get(toKey(queue), toKey(handler))
    return row ? this.#learn(row[0] as number, { queue, handler }) : null
  }

  /** Inside a write. */
  idOf(queue: string, handler: string): number {
    const found = this.find(queue, handler)
    if (found !== null) return found
    const row = this.#connection
      .statement('insert into lines (queue, handler) values (?, ?) returning id')
      .get(toKey(queue), toKey(handler))
    return this.#learn(row![0] as number, { queue, handler })
  }

  nameOf(id: number): LineName {
    const known = this.#names.get(id)
    if (known) return known
    const row = this.#connection.statement('select queue, handler from lines where id = ?').get(id)
    const name = { queue: fromKey(row![0] as string), handler: fromKey(row![1] as string) }
    this.#learn(id, name)
    return name
  }

  /** Null for a number that was never given. */
  knownName(id: number): LineName | null {
    const sql = 'select 1 from lines where id = ?'
    return this.#connection.statement(sql).get(id) === undefined ? null : this.nameOf(id)
  }

  ofQueue(queue: string): number[] {
    const rows = this.#connection.statement('select id from lines where queue = ?')
    return rows.all(toKey(queue)).map(row => row[0] as number)
  }

  ofHandler(handler: string): number[] {
    const rows = this.#connection.statement('select id from lines where handler = ?')
    return rows.all(toKey(handler)).map(row => row[0] as number)
  }

  all(): number[] {
    return this.#connection
      .statement('select id from lines order by id')
      .all()
      .map(row => row[0] as number)
  }

  /** After a write that did not come about: numbers given in it were never given. */
  forget(): void {
    this.#ids.clear()
    this.#names.clear()
  }

  #learn(id: number, name: LineName): number {
    const ofQueue = this.#ids.get(name.queue) ?? new Map<string, number>()
    this.#ids.set(name.queue, ofQueue)
    ofQueue.set(name.handler, id)
    this.#names.set(id, name)
    return id
  }
}
