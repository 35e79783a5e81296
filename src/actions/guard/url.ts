// What can be said about a URL before anything is sent: scheme, credentials, host, port, spelling.

import { parseAddress, whyRefused } from './address.ts'
import type { AllowList, Place } from './allow.ts'

export const URL_MAX = 2_048

export type CheckedUrl =
  | { readonly url: URL; readonly place: Place; readonly rule: null }
  | { readonly url: null; readonly rule: string }

/** Names that never mean a host on the public network. */
const localNames = /^(?:localhost|localhost\.localdomain|ip6-localhost|ip6-loopback|instance-data)$/
const localSuffixes = /\.(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa|onion)$/

/**
 * Refuses by what is written. A name may still resolve to an address that is refused, so the
 * connection checks again; that check is the one that protects.
 */
export function checkUrl(text: string, allow: AllowList): CheckedUrl {
  const spelling = spellingRule(text)
  if (spelling !== null) return refused(spelling)
  const url = parsed(text)
  if (url === null) return refused('must be a URL')
  const place = placeOf(url)
  const rule = hostRule(text, place, allow) ?? portRule(place, allow)
  return rule === null ? { url, place, rule } : refused(rule)
}

function refused(rule: string): CheckedUrl {
  return { url: null, rule }
}

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

export function placeOf(url: URL): Place {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase(), port }
}

/** Parsers disagree about the odd ones, so they are refused before any parser sees them. */
function spellingRule(text: string): string | null {
  if (text.length > URL_MAX) return `must have at most ${URL_MAX} characters`
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f\\]/.test(text)) {
    return 'must not contain spaces, control characters or backslashes'
  }
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1]
  if (authority === undefined) return 'must begin with http:// or https://'
  if (authority.includes('@')) return 'must not carry a user name or password'
  if (authority.includes('%')) return 'must not have an encoded host or a zone id'
  return null
}

function hostRule(text: string, place: Place, allow: AllowList): string | null {
  const { host, port } = place
  if (host === '') return 'must name a host'
  if (host.endsWith('.')) return 'must not end its host with a dot'
  const address = parseAddress(host)
  if (address) {
    if (!isPlainlyWritten(text, host)) return 'must write an address in its usual form'
    if (allow.hasAddress(address, port)) return null
    const why = whyRefused(address)
    return why === null ? null : `must not point to an internal address (${why})`
  }
  if (allow.hasName(place)) return null
  if (localNames.test(host) || localSuffixes.test(host)) return 'must not point to an internal name'
  return host.includes('.') ? null : 'must name a host in full'
}

/** What the parser found must be what a reader sees: no octal, hexadecimal or shortened forms. */
function isPlainlyWritten(text: string, host: string): boolean {
  const written = /^https?:\/\/(\[[^\]]*\]|[^/?#:]*)/i.exec(text)?.[1] ?? ''
  if (!written.startsWith('[')) return written === host
  const [before, after] = [parseAddress(written.slice(1, -1)), parseAddress(host)]
  return before !== null && before.value === after?.value
}

function portRule(place: Place, allow: AllowList): string | null {
  const { host, port } = place
  if (port === 0) return 'must not use port 0'
  const address = parseAddress(host)
  const isListed = address ? allow.hasAddress(address, port) : allow.hasName(place)
  if (isListed || allow.hasPort(port)) return null
  return `must use port 80 or 443, or one the operator allows (got ${port})`
}

/** For logs and errors: a query may hold a key, so only where it went is said. */
export function shownUrl(text: string): string {
  const url = parsed(text)
  if (url === null) return 'a URL that cannot be read'
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}
