// The field that filters jobs: what it understood is shown as chips, what it did not is told.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { after } from '../../clock.ts'
import { countText } from '../../components/format.ts'
import { Icon } from '../../components/icon.tsx'
import { useView } from '../../components/view-state.ts'
import { useKeys } from '../../shell/keys.ts'
import { completions, type Chip } from './filter.ts'

interface FilterProps {
  readonly text: string
  readonly chips: readonly Chip[]
  readonly total: number | undefined
  /** Not all jobs were looked at. */
  readonly isPartial: boolean
}

const REST_MS = 250

const views = [
  ['', 'All'],
  ['status:running', 'Running'],
  ['status:failed', 'Failed'],
  ['status:paused', 'Paused'],
  ['next:<1h', 'Within an hour'],
  ['late:>30s', 'Late'],
  ['last:failed', 'Last failed'],
  ['status:completed,cancelled', 'Ended'],
] as const

export function FilterBar({ text, chips, total, isPartial }: FilterProps) {
  const view = useView()
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(text)
  const list = useId()
  const shown = useRef(text)
  // Another filter came with the address: a link was followed, or the way back.
  if (shown.current !== text) {
    shown.current = text
    setTyped(text)
  }
  useEffect(
    () =>
      after(REST_MS, () => {
        if (typed === shown.current) return
        shown.current = typed
        view.set({ q: typed, page: null })
      }),
    [typed],
  )
  useKeys({ '/': { label: 'Filter', act: () => field.current?.focus() } })
  return (
    <div class="filter">
      <div class="filter-field">
        <Icon name="filter" />
        <input
          ref={field}
          class="input"
          type="search"
          aria-label="Filter jobs"
          placeholder="Name, id, or status:paused tag:billing next:<1h late:>30s last:failed tenant:acme"
          spellcheck={false}
          autocomplete="off"
          list={list}
          value={typed}
          onInput={event => setTyped((event.target as HTMLInputElement).value)}
        />
        <datalist id={list}>
          {completions(typed).map(option => (
            <option key={option} value={option} />
          ))}
        </datalist>
      </div>
      <QuickViews text={text} />
      <div class="row small" aria-live="polite">
        {chips.map(({ text: chip, fault }) => (
          <span key={chip} class={fault === null ? 'chip' : 'chip wrong'}>
            {chip}
            {fault !== null && ` ${fault}`}
          </span>
        ))}
        {text !== '' && total !== undefined && (
          <span class="dim">
            {countText(total)} found{isPartial && ' among those looked at, there may be more'} ·{' '}
            <a href={view.href({ q: null, page: null })}>Clear</a>
          </span>
        )}
      </div>
    </div>
  )
}

function QuickViews({ text }: { readonly text: string }) {
  const view = useView()
  return (
    <div class="row quick" role="group" aria-label="Common filters">
      {views.map(([q, label]) => (
        <a
          key={q}
          class="chip"
          href={view.href({ q: q === '' ? null : q, page: null })}
          aria-current={text === q ? 'true' : undefined}
        >
          {label}
        </a>
      ))}
    </div>
  )
}
