// What every operation works with: the way to the server, and what is remembered of its answers.

import { DamagedRecord } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import { NUL } from './codes.ts'
import { ColdCache, parseCold } from './cold.ts'
import type { Connection } from './connection.ts'
import { damageOf } from '../shared/damage.ts'
import { Recent } from '../shared/recent.ts'
import { type Cold } from '../shared/job.ts'
import { foundJob, specAtOf, type Found } from './row.ts'
import type { ScriptName } from './scripts/index.ts'

/** Where a running job is: its number, and the write that made its spec. */
export interface Known {
  readonly seq: string
  readonly specAt: number
}

/** Which specs are sought; most need not be taken apart to see that they are not. */
export interface Sieve {
  readonly mayFit: (text: string) => boolean
  readonly isFit: (cold: Cold) => boolean
}

type Row = Pick<Found, 'seq' | 'fields'>

const KNOWN_MAX = 200_000
/** A spec that is rewritten all the time is read again so often. */
const TRIES_MAX = 5

export class Shelf {
  readonly connection: Connection
  readonly sender: string
  /** 'server' if due and lease are judged by the server's clock too; a test owns time alone. */
  readonly judge: 'server' | ''
  readonly colds = new ColdCache()
  /** Numbers of jobs that did not decode, and why; the store sets them aside after the call. */
  readonly damaged = new Map<string, DamagedRecord>()
  readonly known = new Recent<string, Known>(KNOWN_MAX)

  constructor(connection: Connection, sender: string, judge: 'server' | '') {
    this.connection = connection
    this.sender = sender
    this.judge = judge
  }

  run(name: ScriptName, args: readonly string[]): Promise<unknown> {
    return this.connection.run(name, args)
  }

  /** Numbers, rows and leases as scripts tell them, from a place in their answer on. */
  found(answer: unknown, from = 0): Found[] {
    const flat = answer as string[]
    const found: Found[] = []
    for (let i = from; i < flat.length; i += 3) {
      found.push({ seq: flat[i]!, fields: flat[i + 1]!.split(NUL), lease: flat[i + 2]! })
    }
    return found
  }

  /** Jobs as they were found. One that was given another spec meanwhile is told as it is now. */
  async jobs(found: readonly Found[]): Promise<Job[]> {
    const told = await this.told(found)
    return told.flatMap(({ job }) => job ?? [])
  }

  /** Null for what went before its spec could be read, or has one that does not fit. */
  async told(
    found: readonly Found[],
    sieve: Sieve | null = null,
  ): Promise<{ found: Found; job: Job | null }[]> {
    const current = [...found]
    const colds = new Map<string, Cold>()
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const stale = await this.readColds(current, colds, sieve)
      if (stale.length === 0) break
      const rows = await this.#rows(stale)
      for (const [i, held] of current.entries()) {
        const fresh = rows.get(held.seq)
        if (fresh) current[i] = fresh
      }
    }
    return current.map(held => {
      const cold = colds.get(held.seq)
      if (!cold || sieve?.isFit(cold) === false) return { found: held, job: null }
      const job = this.decoded(held.seq, () => foundJob(held, cold))
      if (job !== null && job.lease !== null) this.remember(job.id, held)
      return { found: held, job }
    })
  }

  /** Null for what does not decode, which is noted. */
  decoded<T>(seq: string, work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      this.damaged.set(seq, damageOf(error, 'state'))
      return null
    }
  }

  remember(id: string, { seq, fields }: Row): void {
    this.known.set(id, { seq, specAt: specAtOf(fields) })
  }

  /** Fills in the specs that fit their rows; answers with the numbers of those that do not. */
  async readColds(
    found: readonly Row[],
    colds: Map<string, Cold>,
    sieve: Sieve | null = null,
  ): Promise<string[]> {
    const missing: Row[] = []
    for (const held of found) {
      const cold = this.colds.get(held.seq, specAtOf(held.fields))
      if (cold) colds.set(held.seq, cold)
      else {
        colds.delete(held.seq)
        missing.push(held)
      }
    }
    if (missing.length === 0) return []
    const texts = await this.coldTexts(missing.map(({ seq }) => seq))
    return missing.flatMap(({ seq, fields }, i) => {
      const text = texts[i] ?? null
      if (text === null) {
        const error = new DamagedRecord('spec', 'the spec of the job is missing')
        this.damaged.set(seq, error)
        return []
      }
      if (sieve?.mayFit(text) === false) return []
      const parsed = this.decoded(seq, () => parseCold(text))
      if (parsed === null) return []
      const { specAt, cold } = parsed
      this.colds.put(seq, specAt, cold, text.length)
      // A row that is missing or junk names no spec; putting the job together notes that.
      if (specAt !== specAtOf(fields) && !Number.isNaN(specAtOf(fields))) return [seq]
      colds.set(seq, cold)
      return []
    })
  }

  async coldTexts(seqs: readonly string[]): Promise<(string | null)[]> {
    const { prefix } = this.connection
    return (await this.connection.send('HMGET', `${prefix}specs`, ...seqs)) as (string | null)[]
  }

  async #rows(seqs: readonly string[]): Promise<Map<string, Found>> {
    const found = this.found(await this.run('rows', seqs))
    return new Map(found.map(held => [held.seq, held]))
  }
}
