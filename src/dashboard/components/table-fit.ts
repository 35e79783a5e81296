// Which columns of a table its frame has room for: secondary ones go first, and where the rest does
// not fit either, rows become cards that have them all.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface Fit<C> {
  readonly columns: readonly C[]
  readonly isCards: boolean
}

/** Below this a table is always cards. */
export const CARDS_WIDTH = 600

/** What a column says of the room it needs. */
export interface Sized {
  /** The heading of a card where the screen is narrow. */
  readonly isMain?: boolean
  /** Without a label on a card: buttons, boxes to tick. */
  readonly isBare?: boolean
  /** Pixels it needs at least; what is usual for its kind when left out. */
  readonly width?: number
  /** Secondary: left out where there is little room, the lowest number first. */
  readonly drop?: number
}

function widthOf({ width, isMain = false, isBare = false }: Sized): number {
  return width ?? (isMain ? 180 : isBare ? 48 : 96)
}

export function fitColumns<C extends Sized>(columns: readonly C[], room: number): Fit<C> {
  if (room < CARDS_WIDTH) return { columns, isCards: room < needed(columns) }
  let shown = columns
  while (needed(shown) > room) {
    const next = Math.min(...shown.map(({ drop }) => drop ?? Infinity))
    if (next === Infinity) return { columns, isCards: true }
    shown = shown.filter(({ drop }) => drop !== next)
  }
  return { columns: shown, isCards: false }
}

function needed(columns: readonly Sized[]): number {
  return columns.reduce((sum, column) => sum + widthOf(column), 0)
}

/** Measures the frame; what is wider than thought becomes cards too, so nothing scrolls sideways. */
export function useFit<C extends Sized>(columns: readonly C[]) {
  const frame = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(1_200)
  const [tooNarrow, setTooNarrow] = useState(0)
  useLayoutEffect(() => {
    const element = frame.current!
    const measure = () => setRoom(element.clientWidth)
    measure()
    const sized = new ResizeObserver(measure)
    sized.observe(element)
    return () => sized.disconnect()
  }, [])
  const fit = fitColumns(columns, room)
  const isCards = fit.isCards || room <= tooNarrow
  useLayoutEffect(() => {
    const { clientWidth, scrollWidth } = frame.current!
    // The first drawing is made before its frame was measured.
    if (!isCards && room === clientWidth && scrollWidth > clientWidth + 1) setTooNarrow(room)
  })
  return { frame, columns: isCards ? columns : fit.columns, isCards, isRoomy: room >= CARDS_WIDTH }
}
