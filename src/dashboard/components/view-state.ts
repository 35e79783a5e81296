// What a page shows is in its address: filters, order, range. Every view is a link.

import { useLocation } from 'preact-iso'

type Changes = Readonly<Record<string, string | null>>

export interface View {
  readonly get: (name: string) => string | null
  /** The same page with these changes. */
  readonly href: (changes: Changes) => string
  readonly set: (changes: Changes) => void
}

export function useView(): View {
  const { url, query, route } = useLocation()
  const href = (changes: Changes) => {
    const [path = '', search = ''] = url.split('?', 2)
    const params = new URLSearchParams(search)
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') params.delete(name)
      else params.set(name, value)
    }
    const text = params.toString()
    return text === '' ? path : `${path}?${text}`
  }
  return {
    get: name => query[name] ?? null,
    href,
    set: changes => route(href(changes), true),
  }
}
