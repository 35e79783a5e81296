// Rows that stay where they are while someone points at them: values change in place, and what is
// new waits for a click.

import { useEffect, useRef, useState } from 'preact/hooks'

interface ElementRef {
  readonly current: HTMLElement | null
}

export interface Steady<T> {
  readonly items: readonly T[]
  /** How many are new and not shown yet. */
  readonly fresh: number
  readonly take: () => void
}

export function useSteady<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  container: ElementRef,
): Steady<T> {
  const shown = useRef<readonly string[]>([])
  const question = useRef(location.search)
  const [, redraw] = useState(0)
  const isPointedAt = usePointedAt(container)
  const byKey = new Map(items.map(item => [keyOf(item), item]))
  const keys = [...byKey.keys()]
  const isSameQuestion = question.current === location.search
  const isSameSet =
    keys.length === shown.current.length && keys.every(key => shown.current.includes(key))
  const holds =
    isPointedAt.current &&
    isSameQuestion &&
    shown.current.length > 0 &&
    !sameOrder(keys, shown.current)
  if (!holds) {
    shown.current = keys
    question.current = location.search
  }
  const kept = shown.current.flatMap(key => byKey.get(key) ?? [])
  return {
    items: kept,
    fresh: holds && !isSameSet ? keys.filter(key => !shown.current.includes(key)).length : 0,
    take: () => {
      shown.current = keys
      redraw(count => count + 1)
    },
  }
}

function sameOrder(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, at) => key === b[at])
}

/** Whether the pointer or the focus is inside. */
function usePointedAt(container: ElementRef): { readonly current: boolean } {
  const pointed = useRef(false)
  useEffect(() => {
    const look = () => {
      const element = container.current
      pointed.current =
        element !== null && (element.matches(':hover') || element.contains(document.activeElement))
    }
    addEventListener('pointermove', look, { passive: true })
    addEventListener('focusin', look)
    return () => {
      removeEventListener('pointermove', look)
      removeEventListener('focusin', look)
    }
  }, [])
  return pointed
}
