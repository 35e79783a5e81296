// How many entries of each type there are, and a checksum over them that does not depend on order.

import { createHash } from 'node:crypto'
import { entryTypes, type Entry, type EntryType } from '../core/stored/entry.ts'
import { canonicalJson } from '../core/json.ts'

export interface Sum {
  readonly count: number
  /** 16 hexadecimal digits. */
  readonly checksum: string
}

export type Sums = Readonly<Record<EntryType, Sum>>

const SUM_BITS = 64

export class Summing {
  readonly #isCounting: boolean
  readonly #counts = byType(() => 0)
  readonly #sums = byType(() => 0n)

  /** Counting alone costs a fraction. */
  constructor({ isCounting = false } = {}) {
    this.#isCounting = isCounting
  }

  /** Answers with the length of its text. */
  add(entry: Entry): number {
    this.#counts[entry.type]++
    if (this.#isCounting) return JSON.stringify(entry).length
    const text = canonicalJson(entry)
    const hash = createHash('sha256').update(text).digest()
    const sum = this.#sums[entry.type] + hash.readBigUInt64BE(0)
    this.#sums[entry.type] = BigInt.asUintN(SUM_BITS, sum)
    return text.length
  }

  get counts(): Readonly<Record<EntryType, number>> {
    return { ...this.#counts }
  }

  get sums(): Sums {
    return byType(type => ({
      count: this.#counts[type],
      checksum: this.#sums[type].toString(16).padStart(SUM_BITS / 4, '0'),
    }))
  }
}

export function byType<T>(make: (type: EntryType) => T): Record<EntryType, T> {
  return Object.fromEntries(entryTypes.map(type => [type, make(type)])) as Record<EntryType, T>
}

/** The types whose entries differ. */
export function differing(a: Sums, b: Sums, types: readonly EntryType[]): EntryType[] {
  return types.filter(
    type => a[type].count !== b[type].count || a[type].checksum !== b[type].checksum,
  )
}
