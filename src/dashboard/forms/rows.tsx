// Lists inside forms: what is added, moved and taken away, and the buttons that do it.

import { useRef } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { Icon } from '../components/icon.tsx'

/** A row keeps its key while it moves, so that the focus stays where it is. */
export interface Keyed {
  readonly key: number
}

export function freshRowKey(rows: readonly Keyed[]): number {
  return 1 + Math.max(0, ...rows.map(({ key }) => key))
}

export const keyed = <T extends object>(rows: readonly T[]): readonly (T & Keyed)[] =>
  rows.map((row, at) => ({ ...row, key: at + 1 }))

export const replaced = <T,>(rows: readonly T[], at: number, changes: Partial<T>): readonly T[] =>
  rows.map((row, i) => (i === at ? { ...row, ...changes } : row))

export const without = <T,>(rows: readonly T[], at: number): readonly T[] =>
  rows.filter((_row, i) => i !== at)

/** One place up or down; at the ends it stays. */
export function moved<T>(rows: readonly T[], at: number, by: -1 | 1): readonly T[] {
  const other = rows[at + by]
  if (other === undefined) return rows
  return rows.map((row, i) => (i === at ? other : i === at + by ? rows[at]! : row))
}

interface ToolsProps {
  /** What the row is called in the names of its buttons. */
  readonly what: string
  readonly at: number
  readonly count: number
  readonly onMove?: (by: -1 | 1) => void
  readonly onRemove: () => void
}

export function RowTools({ what, at, count, onMove, onRemove }: ToolsProps) {
  const place = useRef<HTMLDivElement>(null)
  const remove = () => {
    // The row goes and the focus with it: the button that adds rows is the nearest that stays.
    place.current?.closest('.rows')?.querySelector<HTMLElement>('.add-row')?.focus()
    onRemove()
  }
  const moving = (by: -1 | 1, isEnd: boolean) => (
    <button
      type="button"
      class="bare"
      aria-label={`Move ${what} ${by < 0 ? 'up' : 'down'}`}
      aria-disabled={isEnd ? true : undefined}
      onClick={() => !isEnd && onMove?.(by)}
    >
      <Icon name={by < 0 ? 'up' : 'down'} />
    </button>
  )
  return (
    <div class="row-tools" ref={place}>
      {onMove && moving(-1, at === 0)}
      {onMove && moving(1, at === count - 1)}
      <button type="button" class="bare" aria-label={`Remove ${what}`} onClick={remove}>
        <Icon name="trash" />
      </button>
    </div>
  )
}

interface RowsProps {
  readonly title: string
  readonly add: string
  readonly onAdd: () => void
  readonly hint?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a form with rows, and the button that adds one. */
export function Rows({ title, add, onAdd, hint, children }: RowsProps) {
  return (
    <fieldset class="rows">
      <legend>{title}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {children}
      <div>
        <button type="button" class="button small add-row" onClick={onAdd}>
          <Icon name="plus" /> {add}
        </button>
      </div>
    </fieldset>
  )
}
