// Numbers for each tenant's share of a line, asked for once: they are given for good.

import type { Job } from '../../core/job.ts'
import { numbers, texts } from './arrays.ts'
import type { Connection } from './connection.ts'
import { Recent } from '../shared/recent.ts'
import { kindCode } from '../shared/job.ts'
import { toKey } from '../shared/text.ts'

export interface Place {
  readonly line: number
  readonly share: number
}

const KNOWN_MAX = 200_000

export class Places {
  readonly #connection: Connection
  readonly #known = new Recent<string, Place>(KNOWN_MAX)

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** In the order of the jobs. */
  async of(jobs: readonly Job[]): Promise<Place[]> {
    const found = new Map<string, Place>()
    const missing = new Map<string, Job>()
    let key = ''
    let before: Job | null = null
    // Those of one list are mostly for one place: its key is made once.
    const keys = jobs.map(job => {
      if (before !== null && isSamePlace(job, before)) return key
      before = job
      key = keyOf(job)
      const known = this.#known.get(key)
      if (known) found.set(key, known)
      else missing.set(key, job)
      return key
    })
    if (missing.size > 0) {
      const places = await this.#ask([...missing.values()])
      for (const [i, asked] of [...missing.keys()].entries()) {
        found.set(asked, places[i]!)
        this.#known.set(asked, places[i]!)
      }
    }
    return keys.map(held => found.get(held)!)
  }

  async #ask(jobs: readonly Job[]): Promise<Place[]> {
    const rows = await this.#connection.call(
      `select * from ${this.#connection.functionName('places')}($1, $2, $3, $4)`,
      [
        texts(jobs.map(job => toKey(job.spec.queue))),
        texts(jobs.map(job => toKey(job.spec.handler))),
        texts(jobs.map(job => toKey(job.spec.tenant))),
        numbers(jobs.map(kindCode)),
      ],
      { isTakenWaited: true },
    )
    return rows.map(([line, share]) => ({ line: Number(line), share: Number(share) }))
  }
}

function isSamePlace(a: Job, b: Job): boolean {
  const same = a.spec.queue === b.spec.queue && a.spec.handler === b.spec.handler
  return same && a.spec.tenant === b.spec.tenant && a.kind === b.kind
}

function keyOf(job: Job): string {
  const { queue, handler, tenant } = job.spec
  return `${job.kind} ${queue.length} ${handler.length} ${queue}${handler}${tenant}`
}
