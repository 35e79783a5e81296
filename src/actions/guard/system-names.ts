// What the system says about names without asking a name server: the hosts file, and how resolv.conf
// completes short names. Read again when they changed.

import { readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseAddress } from './address.ts'

export interface SearchRules {
  /** Domains that are tried behind a short name. */
  readonly search: readonly string[]
  /** A name with at least so many dots is first tried as it is. */
  readonly ndots: number
}

/** As the C library has them. */
const NDOTS_MAX = 15
const SEARCH_MAX = 32
const FILE_BYTES_MAX = 8 * 1024 * 1024

/** Addresses by name; names in lower case. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address, ...names] = line.split('#', 1)[0]!.trim().split(/\s+/)
    if (address === undefined || parseAddress(address) === null) continue
    for (const name of names.map(one => one.toLowerCase())) {
      const known = byName.get(name) ?? []
      if (!known.includes(address)) byName.set(name, [...known, address])
    }
  }
  return byName
}

/** The last of `search` and `domain` counts; without either, the domain of this machine. */
export function parseResolvConf(text: string, ownName = hostname()): SearchRules {
  let search = ownName.includes('.') ? [ownName.slice(ownName.indexOf('.') + 1)] : []
  let ndots = 1
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'search') search = words
    else if (keyword === 'domain') search = words.slice(0, 1)
    else if (keyword === 'options') {
      const given = words.map(word => /^ndots:(\d{1,4})$/.exec(word)?.[1]).find(Boolean)
      if (given !== undefined) ndots = Math.min(Number(given), NDOTS_MAX)
    }
  }
  const domains = search.map(domain => domain.toLowerCase().replace(/^\.|\.$/g, ''))
  return { search: domains.filter(domain => domain !== '').slice(0, SEARCH_MAX), ndots }
}

/** The names that are asked for instead of one, in their order. */
export function candidates(name: string, { search, ndots }: SearchRules): readonly string[] {
  const completed = search.map(domain => `${name}.${domain}`).filter(({ length }) => length <= 253)
  const isFull = name.split('.').length - 1 >= ndots
  return isFull ? [name, ...completed] : [...completed, name]
}

/** What a file holds, read when it was written since; `empty` while there is none to read. */
export class WatchedFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #mark = ''
  #value: T

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
    this.#value = parse('')
  }

  get value(): T {
    const mark = this.#markNow()
    if (mark !== this.#mark) {
      this.#value = this.#parse(mark === '' ? '' : this.#text())
      this.#mark = mark
    }
    return this.#value
  }

  #markNow(): string {
    const stat = statSync(this.#path, { throwIfNoEntry: false, bigint: true })
    if (stat === undefined || stat.size > FILE_BYTES_MAX) return ''
    return `${stat.ino} ${stat.size} ${stat.mtimeNs}`
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch {
      return ''
    }
  }
}
