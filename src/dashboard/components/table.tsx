// Tables: real ones with headers and a caption, sortable by links, cards where the screen is narrow.

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { Icon } from './icon.tsx'
import { useFit, type Sized } from './table-fit.ts'
import { useView } from './view-state.ts'

export interface Column<T> extends Sized {
  readonly key: string
  readonly head: ComponentChildren
  readonly cell: (item: T) => ComponentChildren
  /** The name the service sorts by. */
  readonly sort?: string
  readonly align?: 'end'
}

interface TableProps<T> {
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string
  /** Where Enter and a click on the row lead. */
  readonly hrefOf?: (item: T) => string
  readonly isSelected?: (item: T) => boolean
  /** The order when the address names none. */
  readonly defaultSort?: string
}

export function Table<T>(props: TableProps<T>) {
  const { caption, items, keyOf, hrefOf } = props
  const { frame, columns, isCards, isRoomy } = useFit(props.columns)
  const { route } = useLocation()
  const opened = (event: MouseEvent, item: T) => {
    const target = event.target as Element
    if (hrefOf === undefined || target.closest('a,button,input,label,select') !== null) return
    if (event.metaKey || event.ctrlKey) window.open(hrefOf(item))
    else if (String(getSelection()) === '') route(hrefOf(item))
  }
  return (
    <div class={`table-frame${isCards ? ' as-cards' : ''}${isRoomy ? ' roomy' : ''}`} ref={frame}>
      <table class={hrefOf ? 'opens' : undefined}>
        <caption class="away-from-sight">{caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <Head key={column.key} column={column} defaultSort={props.defaultSort ?? ''} />
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(item => (
            <tr
              key={keyOf(item)}
              data-key={keyOf(item)}
              class={props.isSelected?.(item) ? 'selected' : undefined}
              onClick={event => opened(event, item)}
            >
              {columns.map(({ key, head, cell, align, isMain, isBare }) => (
                <td
                  key={key}
                  class={[align, isMain && 'main', isBare && 'bare-cell', `c-${key}`]
                    .filter(Boolean)
                    .join(' ')}
                  data-label={!isBare && typeof head === 'string' ? head : undefined}
                >
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Head<T>({ column, defaultSort }: { column: Column<T>; defaultSort: string }) {
  const view = useView()
  const { sort, head, align } = column
  const shown = align === 'end' ? 'end' : undefined
  if (sort === undefined) {
    return (
      <th scope="col" class={shown}>
        {head}
      </th>
    )
  }
  const current = view.get('sort') ?? defaultSort
  const isUp = current === sort
  const isDown = current === `-${sort}`
  const next = isUp ? `-${sort}` : sort
  return (
    <th scope="col" class={shown} aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}>
      <a href={view.href({ sort: next, page: null })}>
        {head}
        {(isUp || isDown) && <Icon name={isUp ? 'up' : 'down'} />}
      </a>
    </th>
  )
}
