// What is still to be fetched: each URL once, within host, depth and number, and out of traps.
// Can be written down and taken up again.

import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { JsonObject } from '../../core/json.ts'
import { URL_MAX } from '../guard/url.ts'
import type { CrawlSettings } from './settings.ts'

export interface Spot {
  readonly url: string
  readonly depth: number
}

/** A calendar or a shop filter makes endless queries of one path. */
const VARIANTS_MAX = 50
const SEGMENTS_MAX = 20
/** `/a/b/a/b/a/b`: a relative link that nests itself. */
const REPEATS_MAX = 3
const HASH_BYTES = 6
const INFLATED_MAX = 32 * 1024 * 1024
/** Characters of waiting URLs that are compressed: 20 ms. More would not fit into a checkpoint. */
const WAITING_LENGTH_MAX = 1024 * 1024

export class Frontier {
  readonly #start: URL
  readonly #settings: CrawlSettings
  readonly #seen = new Set<string>()
  readonly #variants = new Map<string, number>()
  #queue: Spot[] = []
  #at = 0
  /** Links passed over because the page limit was reached. */
  isFull = false

  constructor(settings: CrawlSettings) {
    this.#start = new URL(settings.url)
    this.#settings = settings
  }

  get waiting(): number {
    return this.#queue.length - this.#at
  }

  next(): Spot | null {
    const spot = this.#queue[this.#at] ?? null
    if (spot) this.#at++
    return spot
  }

  /** Puts a spot back that could not be fetched this time; once is enough. */
  again(spot: Spot): void {
    if (this.#queue[this.#at]?.url === spot.url) return
    this.#queue = [spot, ...this.#queue.slice(this.#at)]
    this.#at = 0
  }

  /** Whether the URL is new, wanted, and there is room for it. */
  offer(found: URL, depth: number): boolean {
    const url = new URL(found)
    url.hash = ''
    if (depth > this.#settings.depth || !this.isOurs(url) || isTrap(url)) return false
    const key = keyOf(url.href)
    if (this.#seen.has(key)) return false
    if (this.#seen.size >= this.#settings.pages) {
      this.isFull = true
      return false
    }
    if (!this.#isFewVariants(url)) return false
    this.#seen.add(key)
    this.#queue.push({ url: url.href, depth })
    return true
  }

  isOurs(url: URL): boolean {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
    if (url.username !== '' || url.password !== '') return false
    if (!samePort(url, this.#start)) return false
    const [host, start] = [bare(url.hostname), bare(this.#start.hostname)]
    if (host === start) return true
    return this.#settings.hosts === 'subdomains' && host.endsWith(`.${start}`)
  }

  #isFewVariants(url: URL): boolean {
    if (url.search === '') return true
    const path = url.origin + url.pathname
    const count = (this.#variants.get(path) ?? 0) + 1
    this.#variants.set(path, count)
    return count <= VARIANTS_MAX
  }

  /**
   * Seen as short hashes, waiting as compressed lines: thousands of pages in a few kilobytes. Null when
   * the URLs that wait are too long for that.
   */
  snapshot(): JsonObject | null {
    const lines: string[] = []
    let length = 0
    for (const { url, depth } of this.#queue.slice(this.#at)) {
      length += url.length
      if (length > WAITING_LENGTH_MAX) return null
      lines.push(`${depth} ${url}`)
    }
    const seen = Buffer.concat([...this.#seen].map(key => Buffer.from(key, 'base64url')))
    return {
      start: this.#start.href,
      seen: seen.toString('base64'),
      waiting: deflateRawSync(lines.join('\n')).toString('base64'),
    }
  }

  /** False, and nothing taken up, when it is of another start or cannot be read. */
  restore(snapshot: JsonObject): boolean {
    const { start, seen, waiting } = snapshot
    if (start !== this.#start.href || typeof seen !== 'string' || typeof waiting !== 'string') {
      return false
    }
    const hashes = Buffer.from(seen, 'base64')
    const text = inflated(waiting)
    if (text === null) return false
    for (let at = 0; at + HASH_BYTES <= hashes.length; at += HASH_BYTES) {
      this.#seen.add(hashes.subarray(at, at + HASH_BYTES).toString('base64url'))
    }
    this.#queue = text.split('\n').flatMap(line => {
      const [, depth, url] = /^(\d+) (\S+)$/.exec(line) ?? []
      return url === undefined ? [] : [{ url, depth: Number(depth) }]
    })
    this.#at = 0
    return true
  }
}

function inflated(text: string): string | null {
  try {
    const bytes = Buffer.from(text, 'base64')
    return inflateRawSync(bytes, { maxOutputLength: INFLATED_MAX }).toString()
  } catch {
    return null
  }
}

function keyOf(url: string): string {
  return createHash('sha256').update(url).digest().subarray(0, HASH_BYTES).toString('base64url')
}

function bare(hostname: string): string {
  return hostname.replace(/^www\./, '')
}

/** http and https of one site are one site. */
function samePort(a: URL, b: URL): boolean {
  return a.port === b.port
}

export function isTrap(url: URL): boolean {
  if (url.href.length > URL_MAX) return true
  const segments = url.pathname.split('/').filter(segment => segment !== '')
  if (segments.length > SEGMENTS_MAX) return true
  const counts = new Map<string, number>()
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1)
  return Math.max(0, ...counts.values()) > REPEATS_MAX
}
