// What every operation works with: the way to the server, and what it met that does not decode.

import type { DamagedEntry, DamagedRecord } from '../../core/stored/damage.ts'
import type { Job } from '../../core/job.ts'
import { damageOf } from '../shared/damage.ts'
import type { Connection } from './connection.ts'
import { decodeJob, type StoredJob } from './row.ts'
import type { ScriptName } from './scripts.ts'

export interface FoundJob {
  readonly stored: StoredJob
  readonly job: Job
}

const STORED_WIDTH = 4

export class RedisSession {
  readonly connection: Connection
  /** Signs the hints of this store. */
  readonly sender: string
  /** 'server' if due and lease are judged by the server's clock too; a test owns time alone. */
  readonly judge: 'server' | ''
  /** Numbers of jobs that did not decode, and why; the store sets them aside after the call. */
  readonly damaged = new Map<string, DamagedRecord>()
  /** Records beside the jobs that did not decode, by kind and key. */
  readonly damagedRecords = new Map<string, DamagedEntry>()

  constructor(connection: Connection, sender: string, judge: 'server' | '') {
    this.connection = connection
    this.sender = sender
    this.judge = judge
  }

  run(name: ScriptName, args: readonly string[]): Promise<unknown> {
    return this.connection.run(name, args)
  }

  /** A command about one key of the namespace. */
  send(command: string, name: string, ...words: readonly string[]): Promise<unknown> {
    return this.connection.send(command, this.connection.prefix + name, ...words)
  }

  /** The jobs a script answers with. */
  async jobs(name: ScriptName, args: readonly string[]): Promise<Job[]> {
    return this.decodeAll(storedJobs(await this.run(name, args))).map(({ job }) => job)
  }

  decodeAll(stored: readonly StoredJob[]): FoundJob[] {
    return stored.flatMap(one => {
      const job = this.decoded(one.seq, () => decodeJob(one))
      return job === null ? [] : [{ stored: one, job }]
    })
  }

  noteRecord(entry: DamagedEntry): void {
    this.damagedRecords.set(`${entry.kind}\0${entry.key}`, entry)
  }

  /** Null for what does not decode, which is noted. */
  decoded<T>(seq: string, decode: () => T): T | null {
    try {
      return decode()
    } catch (error) {
      this.damaged.set(seq, damageOf(error, 'state'))
      return null
    }
  }
}

/** Jobs as `addJobs` of the scripts answers. */
export function storedJobs(answer: unknown, from = 0): StoredJob[] {
  const flat = answer as readonly string[]
  const found: StoredJob[] = []
  for (let i = from; i < flat.length; i += STORED_WIDTH) {
    const [row, lease, definition] = [flat[i + 1]!, flat[i + 2]!, flat[i + 3]!]
    found.push({ seq: flat[i]!, row, lease, definition })
  }
  return found
}
