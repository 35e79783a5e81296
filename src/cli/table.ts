// Rows in columns that fit the terminal: first the least needed columns go, then the longest texts.

import { cut, safe, widthOf, type Screen, type Style } from './screen.ts'
import { usage } from './problem.ts'
import { didYouMean } from '../core/spec/suggest.ts'

export interface Column<R> {
  /** What `--columns` calls it. */
  readonly key: string
  readonly title: string
  readonly value: (row: R) => string
  readonly style?: (row: R) => Style | null
  readonly isRight?: boolean
  /** The higher, the sooner it is left out; 0 stays. */
  readonly drop?: number
  /** Only when it is asked for by name. */
  readonly isExtra?: boolean
  /** Never cut below. */
  readonly min?: number
}

const GAP = 2
const MIN = 6

/** The asked-for columns, in that order; a field of the resource has no column of its own. */
export function pick<R extends object>(
  columns: readonly Column<R>[],
  names: readonly string[] | null,
  sample: R | undefined,
): readonly Column<R>[] {
  if (names === null) return columns.filter(({ isExtra }) => !isExtra)
  return names.map(name => {
    const known = columns.find(({ key }) => key === name)
    if (known) return known
    if (sample !== undefined && name in sample) {
      return { key: name, title: name.toUpperCase(), value: row => shown(row[name as keyof R]) }
    }
    const all = [...columns.map(({ key }) => key), ...Object.keys(sample ?? {})]
    const hint = didYouMean(name, all) ?? `columns: ${columns.map(({ key }) => key).join(', ')}`
    throw usage(`there is no column ${name}`, hint)
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function tsv<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  return rows.map(row => `${columns.map(({ value }) => safe(value(row))).join('\t')}\n`).join('')
}

export function table<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  { width, paint }: Pick<Screen, 'width' | 'paint'>,
): string {
  const { kept, widths } = fit(columns, rows, width)
  const line = (cells: readonly string[], style: (i: number) => Style | null) =>
    cells
      .map((cell, i) => {
        const text = cut(cell, widths[i]!)
        const room = ' '.repeat(Math.max(0, widths[i]! - widthOf(text)))
        const look = style(i)
        const painted = look === null ? text : paint(look, text)
        return kept[i]!.isRight ? `${room}${painted}` : `${painted}${room}`
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  const head = line(
    kept.map(({ title }) => title),
    () => 'faint',
  )
  const body = rows.map(row =>
    line(
      kept.map(({ value }) => safe(value(row))),
      i => kept[i]!.style?.(row) ?? null,
    ),
  )
  return [head, ...body].map(text => `${text}\n`).join('')
}

function fit<R>(columns: readonly Column<R>[], rows: readonly R[], width: number | null) {
  const natural = (column: Column<R>) =>
    Math.max(widthOf(column.title), ...rows.map(row => widthOf(safe(column.value(row)))))
  let kept = columns.map(column => ({ column, width: natural(column) }))
  const total = () => kept.reduce((sum, one) => sum + one.width + GAP, -GAP)
  while (width !== null && total() > width) {
    const last = kept.reduce((a, b) => ((b.column.drop ?? 0) >= (a.column.drop ?? 0) ? b : a))
    if ((last.column.drop ?? 0) > 0) {
      kept = kept.filter(one => one !== last)
      continue
    }
    const room = (one: (typeof kept)[number]) => one.width - Math.max(one.column.min ?? MIN, 1)
    const longest = kept.reduce((a, b) => (room(b) > room(a) ? b : a))
    if (room(longest) <= 0) break
    longest.width -= Math.min(room(longest), total() - width)
  }
  return { kept: kept.map(({ column }) => column), widths: kept.map(one => one.width) }
}
