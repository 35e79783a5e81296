// Where this page was served from: the path the service is mounted under, and what the service said
// about itself in the document.

function metaContent(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="carillon-${name}"]`)?.content ?? ''
}

export const base = metaContent('base')
export const environment = metaContent('environment')
export const version = metaContent('version')

/** An address of a page, from its path without the base. */
export function href(path: string, query: Readonly<Record<string, string | null>> = {}): string {
  const entries = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[1] !== '',
  )
  const text = new URLSearchParams(entries).toString()
  return `${base}${path}${text === '' ? '' : `?${text}`}`
}
