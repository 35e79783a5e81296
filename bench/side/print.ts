// Rows as tables on a terminal: median, range, processors, and how Carillon stands.

import { compared } from './ratios.ts'
import type { Figure, Row } from './results.ts'

export const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 })

const percent = (share: number | null): string =>
  share === null ? '' : `${Math.round(share * 100)}`

export const nameOf = ({ contender, version, store }: Figure): string =>
  `${contender}${version && contender !== 'carillon' ? ` ${version}` : ''}, ${store}`

/** Best first. */
export const ordered = ({ figures, lowerIsBetter }: Row): Figure[] =>
  figures.toSorted((a, b) => (lowerIsBetter ? a.median - b.median : b.median - a.median))

export function print(rows: readonly Row[]): void {
  for (const row of rows) {
    console.log(`\n${row.title} (${row.unit}, ${row.lowerIsBetter ? 'less' : 'more'} is better)`)
    for (const figure of ordered(row)) {
      const range = `${number(figure.min)} – ${number(figure.max)}`
      const shares = `${percent(figure.client)} / ${percent(figure.server)} %`
      const cells = [number(figure.median).padStart(12), range.padStart(22), shares.padStart(14)]
      console.log(`  ${nameOf(figure).padEnd(34)}${cells.join('')}  ${figure.notes.join('; ')}`)
    }
    for (const line of compared(row)) console.log(`    ${line}`)
  }
}
