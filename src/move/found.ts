// What an import finds: jobs in the words of the HTTP API, and what a person has to look at.

import { createHash } from 'node:crypto'
import type { JobBody } from '../client/types.ts'

export interface FoundJob {
  /** Of the text it was read from, counted from 1. */
  readonly line: number
  /** Known again by these two: the name without its number, and what tells equal names apart. */
  readonly definition: string
  readonly key: string
  readonly body: JobBody
  /** It was switched off where it comes from. */
  readonly isSuspended: boolean
}

export interface Note {
  readonly line: number
  readonly text: string
  /** False when nothing came of the line. */
  readonly isConverted: boolean
}

export interface Found {
  readonly jobs: readonly FoundJob[]
  readonly notes: readonly Note[]
}

/** A job before its name is told apart from others. */
export interface RawJob {
  readonly line: number
  readonly name: string
  /** What it is, whatever its schedule: the same again is known by it. */
  readonly identity: string
  readonly body: JobBody
  readonly isSuspended?: boolean
}

const KEY_LENGTH = 8
const NAME_MAX = 100

/** Equal names get a number for people, and a key that stays when lines move. */
export function named(raw: readonly RawJob[]): FoundJob[] {
  const names = new Map<string, number>()
  const keys = new Map<string, number>()
  return raw.map(({ line, name, identity, body, isSuspended = false }) => {
    const definition = plainName(name)
    const count = step(names, definition)
    const hash = createHash('sha256').update(identity).digest('hex').slice(0, KEY_LENGTH)
    const same = step(keys, `${definition} ${hash}`)
    return {
      line,
      definition,
      key: same === 1 ? hash : `${hash}-${same}`,
      body: { name: count === 1 ? definition : `${definition}-${count}`, ...body },
      isSuspended,
    }
  })
}

function step(counts: Map<string, number>, name: string): number {
  const next = (counts.get(name) ?? 0) + 1
  counts.set(name, next)
  return next
}

function plainName(text: string): string {
  const plain = text.replaceAll(/[^\w.@-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '')
  return plain.slice(0, NAME_MAX) || 'job'
}
