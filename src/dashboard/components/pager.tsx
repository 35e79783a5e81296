// The way on through a list that is read by cursors: the next page, and back to the first.

import { plural } from './format.ts'
import { Icon } from './icon.tsx'
import { useView } from './view-state.ts'

interface PagerProps {
  readonly shown: number
  /** What the list holds: `runs`. */
  readonly of: string
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}

export function Pager({ shown, of, next }: PagerProps) {
  const view = useView()
  const isFirst = view.get('cursor') === null
  if (isFirst && next === null) return null
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span class="dim small numbers">{plural(shown, of.replace(/s$/, ''), of)} on this page</span>
      <span class="row">
        {!isFirst && (
          <a class="button small" href={view.href({ cursor: null })}>
            <Icon name="back" /> First
          </a>
        )}
        {next !== null && (
          <a class="button small" href={view.href({ cursor: next })}>
            Next <Icon name="next" />
          </a>
        )}
      </span>
    </nav>
  )
}
