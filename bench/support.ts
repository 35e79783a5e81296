// What the benchmarks share: folders of their own, medians, and one way to print.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The bar it is held against, and whether lower is better. */
  readonly target?: number
  readonly lowerIsBetter?: boolean
  readonly note?: string
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function perSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1_000)
}

export function show(figure: Figure): void {
  const { name, value, unit, target, lowerIsBetter, note } = figure
  const digits = Math.abs(value) >= 100 ? 0 : 2
  const text = `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`
  const meets = target === undefined || (lowerIsBetter ? value <= target : value >= target)
  const bar =
    target === undefined
      ? ''
      : `${meets ? 'meets' : 'misses'} ${lowerIsBetter ? '≤' : '≥'} ${target}`
  console.log(`${name.padEnd(58)} ${text.padStart(18)}  ${bar}${note ? `  ${note}` : ''}`)
}
