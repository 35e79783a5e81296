// What really happened, as the processes themselves saw it: one line per fact, appended to a file
// that no store knows about. Every moment is the machine's own, whatever a node believes.

import { closeSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { OutcomeKind } from '../../../src/core/attempt.ts'
import type { Instant } from '../../../src/core/time.ts'

interface Fact {
  readonly at: Instant
  readonly node: string
}

interface OfJob extends Fact {
  readonly job: string
}

interface OfAttempt extends OfJob {
  readonly run: number
  readonly fence: number
  /** The attempt's. */
  readonly id: string
}

export interface Start extends OfAttempt {
  readonly kind: 'start'
  readonly occurrence: Instant
}

export interface Finish extends OfAttempt {
  readonly kind: 'finish'
  readonly isOk: boolean
}

/** The store said yes to this outcome. */
export interface Accepted extends OfAttempt {
  readonly kind: 'accepted'
  readonly outcome: OutcomeKind
}

/** The node gave its result up: the lease was no longer its own. */
export interface Lost extends OfJob {
  readonly kind: 'lost'
  readonly fence: number
  readonly reason: string
}

/** About to create a job, due at this moment; a `created` follows when it was acknowledged. */
export interface Asked extends OfJob {
  readonly kind: 'asked'
  readonly dueAt: Instant
}

export interface Created extends OfJob {
  readonly kind: 'created'
}

/** Something the engine complained about; for people. */
export interface Complaint extends Fact {
  readonly kind: 'error'
  readonly during: string
  readonly message: string
}

export type Line = Start | Finish | Accepted | Lost | Asked | Created | Complaint
export type LineInput = Line extends infer L
  ? L extends Line
    ? Omit<L, 'at' | 'node'>
    : never
  : never

export class WitnessLog {
  readonly #file: number
  readonly #node: string

  constructor(folder: string, node: string) {
    this.#file = openSync(join(folder, `${node}.jsonl`), 'a')
    this.#node = node
  }

  note(line: LineInput): void {
    writeSync(this.#file, `${JSON.stringify({ ...line, at: Date.now(), node: this.#node })}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** In the order of time; the last line of a file may have been cut off by a kill. */
export function readWitness(folder: string): Line[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
  const lines = files.flatMap(name => {
    const whole = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)
    return whole.map(line => JSON.parse(line) as Line)
  })
  return lines.sort((a, b) => a.at - b.at)
}
