// The way through a long list, by pages that are in the address.

import { countText } from './format.ts'
import { Icon } from './icon.tsx'
import { useView } from './view-state.ts'

interface PageLinksProps {
  readonly page: number
  readonly size: number
  readonly total: number
}

/** Beyond this the service leaves rows out no further. */
const OFFSET_MAX = 100_000

export function PageLinks({ page, size, total }: PageLinksProps) {
  const view = useView()
  if (total <= size && page === 1) return null
  const first = (page - 1) * size + 1
  const last = Math.min(page * size, total)
  const hasNext = last < total && page * size <= OFFSET_MAX
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span class="dim small numbers">
        {countText(first)}–{countText(last)} of {countText(total)}
      </span>
      <span class="row">
        {page > 1 && (
          <a class="button small" href={view.href({ page: page === 2 ? null : String(page - 1) })}>
            <Icon name="back" /> Before
          </a>
        )}
        {hasNext && (
          <a class="button small" href={view.href({ page: String(page + 1) })}>
            Next <Icon name="next" />
          </a>
        )}
      </span>
    </nav>
  )
}
