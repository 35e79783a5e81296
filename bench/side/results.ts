// What a run leaves: every value of every contender in every row, with medians made from them.

import { cpus, totalmem } from 'node:os'
import { median } from '../support.ts'
import type { Sample } from './parts.ts'
import type { Entry } from './fleet.ts'
import { describeRow } from './rows.ts'

/** One contender in one row. */
export interface Figure {
  readonly contender: string
  readonly version: string
  readonly store: string
  readonly settings: string
  readonly values: readonly number[]
  readonly median: number
  readonly min: number
  readonly max: number
  /** Shares of a processor, medians. */
  readonly client: number | null
  readonly server: number | null
  readonly notes: readonly string[]
}

export interface Row {
  readonly id: string
  readonly title: string
  readonly section: string
  readonly unit: string
  readonly lowerIsBetter: boolean
  readonly figures: readonly Figure[]
}

export interface Results {
  readonly format: 1
  readonly at: string
  readonly isQuick: boolean
  readonly machine: Readonly<Record<string, string | number>>
  readonly servers: Readonly<Record<string, string>>
  /** Minutes each section took. */
  readonly took: Readonly<Record<string, number>>
  readonly rows: readonly Row[]
}

export const machine = (): Results['machine'] => ({
  node: process.versions.node,
  processors: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  platform: `${process.platform} ${process.arch}`,
})

type Who = Pick<Entry, 'name' | 'store' | 'settings' | 'version'>
interface Kept {
  readonly who: Who
  readonly samples: Sample[]
}

export class Ledger {
  readonly #rows = new Map<string, { section: string; kept: Map<string, Kept> }>()

  add(section: string, who: Who, samples: readonly Sample[]): void {
    for (const sample of samples) {
      const row = this.#rows.get(sample.row) ?? { section, kept: new Map<string, Kept>() }
      this.#rows.set(sample.row, row)
      const key = `${who.name} ${who.store} ${who.settings}`
      const own = row.kept.get(key) ?? { who, samples: [] }
      row.kept.set(key, own)
      own.samples.push(sample)
    }
  }

  rows(): Row[] {
    return [...this.#rows].map(([id, { section, kept }]) => ({
      id,
      section,
      ...describeRow(id),
      figures: [...kept.values()].map(figureOf),
    }))
  }
}

function figureOf({ who, samples }: Kept): Figure {
  const values = samples.map(({ value }) => round(value))
  const share = (side: 'client' | 'server') => {
    const known = samples.flatMap(sample => sample[side] ?? [])
    return known.length > 0 ? round(median(known)) : null
  }
  return {
    contender: who.name,
    version: who.version,
    store: who.store,
    settings: who.settings,
    values,
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    client: share('client'),
    server: share('server'),
    notes: [...new Set(samples.flatMap(({ note }) => note ?? []))],
  }
}

/** Four digits are more than the noise leaves. */
function round(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4))
}
