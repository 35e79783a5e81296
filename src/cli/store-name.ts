// What a store is called in front of people, and told apart by: never with a password.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The same for two ways to write the same place, as far as the text can tell. */
export function storeName(url: string): string {
  if (url.startsWith('sqlite:')) return `sqlite:${realPath(url.slice('sqlite:'.length))}`
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    // Whatever it is, it may hold a password.
    return url.split(':', 1)[0]!
  }
  const { protocol, host, pathname, searchParams } = parsed
  const kept = ['schema', 'namespace'].flatMap(name => {
    const value = searchParams.get(name)
    return value === null ? [] : [`${name}=${value}`]
  })
  const place = host === '' ? pathname : `//${host}${pathname}`
  return `${protocol}${place}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}

function realPath(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    return parentOf(whole)
  }
}

/** A file that is not there yet; its folder may be. */
function parentOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return path
  }
}
