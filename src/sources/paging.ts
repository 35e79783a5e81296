// Which page comes next: by number, by cursor or by link; and how a source that goes in circles is
// noticed. What a page left is enough to go on from it later.

import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../core/json.ts'
import { ExactNumber } from './json-answer.ts'
import { valueAt } from './path.ts'
import type { FetchDocument, OffsetPagination } from './source.ts'

/** A parameter as it is sent. */
export type Sent = readonly [name: string, value: string]

export interface PageSeen {
  readonly body: unknown
  readonly records: number
  /** Equal for pages that hold the same. */
  readonly fingerprint: string
  /** Where the answer came from. */
  readonly url: string
}

/** Cursors are remembered by so many characters of their hash. */
const MARK_LENGTH = 12
const CURSOR_MAX = 4_000

export class Paging {
  readonly #source: FetchDocument
  #page = 0
  /** The cursor or link of the page to come; null for the first. */
  #cursor: string | null = null
  #seen = new Set<string>()
  #last: string | null = null

  constructor(source: FetchDocument) {
    this.#source = source
  }

  /** Pages that were read so far. */
  get pages(): number {
    return this.#page
  }

  /** The URL of the page to come, with the parameters in their order. */
  url(params: readonly Sent[]): string {
    const { url, cursorPagination } = this.#source
    const isLink = cursorPagination !== undefined && cursorPagination.cursorParam === undefined
    if (isLink && this.#cursor !== null) return withMissing(this.#cursor, params)
    return appended(url, [...params, ...this.#own()])
  }

  #own(): readonly Sent[] {
    const { offsetPagination: offset, cursorPagination: cursor } = this.#source
    if (offset) {
      const { pageParam, limitParam, limit } = offset
      const size: readonly Sent[] = limitParam === undefined ? [] : [[limitParam, String(limit)]]
      return [[pageParam, String(placeOf(offset, this.#page))], ...size]
    }
    if (cursor?.cursorParam === undefined || this.#cursor === null) return []
    return [[cursor.cursorParam, this.#cursor]]
  }

  /** Takes note of a page; says whether another one follows. Throws when it leads nowhere. */
  advance(seen: PageSeen): boolean {
    if (seen.records > 0 && seen.fingerprint === this.#last) {
      throw new Error(`page ${this.#page + 1} holds the same records as the page before`)
    }
    this.#last = seen.fingerprint
    this.#page++
    const { offsetPagination, cursorPagination } = this.#source
    if (offsetPagination) return this.#byOffset(offsetPagination, seen)
    if (cursorPagination) {
      return this.#byCursor(valueAt(seen.body, cursorPagination.nextCursorPath), seen)
    }
    return false
  }

  #byOffset({ hasMorePath, limit }: OffsetPagination, { body, records }: PageSeen): boolean {
    if (hasMorePath === undefined) return records >= limit
    const more = valueAt(body, hasMorePath)
    const hasMore = more === true || more === 'true' || more === 1
    if (hasMore && records === 0) {
      throw new Error(`page ${this.#page} is empty although more is said to follow`)
    }
    return hasMore
  }

  #byCursor(found: unknown, { url }: PageSeen): boolean {
    if (ends.has(found)) return false
    const isText = typeof found === 'string' || found instanceof ExactNumber
    if (!isText && typeof found !== 'number') {
      throw new Error(`page ${this.#page} has a next cursor that is neither a text nor a number`)
    }
    const text = String(found)
    if (text.length > CURSOR_MAX) throw new Error(`page ${this.#page} has too long a next cursor`)
    const isLink = this.#source.cursorPagination!.cursorParam === undefined
    const cursor = isLink ? followed(text, url, this.#source.url) : text
    const mark = markOf(cursor)
    if (this.#seen.has(mark)) throw new Error(`page ${this.#page} repeats a cursor`)
    this.#seen.add(mark)
    this.#cursor = cursor
    return true
  }

  /** What it takes to go on from here. */
  saved(): JsonObject {
    return { page: this.#page, cursor: this.#cursor, seen: [...this.#seen], last: this.#last }
  }

  /** Goes on from what was saved; leaves everything as it is when that cannot be read. */
  restore(saved: Json | undefined): void {
    const { page, cursor, seen, last } = (saved ?? {}) as Partial<Record<string, unknown>>
    if (!Number.isSafeInteger(page) || !Array.isArray(seen)) return
    this.#page = page as number
    this.#cursor = typeof cursor === 'string' ? cursor : null
    this.#seen = new Set(seen.map(String))
    this.#last = typeof last === 'string' ? last : null
  }
}

/** What stands where a cursor would, when nothing follows; the number 0 as in SCAN of Redis. */
const ends: ReadonlySet<unknown> = new Set([undefined, null, '', false, 0])

function placeOf({ counts, limit, first }: OffsetPagination, page: number): number {
  return counts === 'records' ? (first ?? 0) + page * limit : (first ?? 1) + page
}

function markOf(cursor: string): string {
  return createHash('sha256').update(cursor).digest('base64url').slice(0, MARK_LENGTH)
}

/** A link may lead on within the origin of the source, nowhere else: it gets the source's headers. */
function followed(link: string, from: string, start: string): string {
  const url = URL.canParse(link, from) ? new URL(link, from) : null
  if (url === null) throw new Error('the next link is no URL')
  if (url.origin !== new URL(start).origin) {
    throw new Error(`the next link leads to another origin: ${url.origin}`)
  }
  url.hash = ''
  return url.href
}

function appended(url: string, params: readonly Sent[]): string {
  if (params.length === 0) return url
  const [base = '', hash] = url.split('#', 2)
  const query = params.map(pair => pair.map(encodeURIComponent).join('=')).join('&')
  const joint = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?'
  return `${base}${joint}${query}${hash === undefined ? '' : `#${hash}`}`
}

/** Links rarely repeat what every request needs, such as a key. */
function withMissing(link: string, params: readonly Sent[]): string {
  const { searchParams } = new URL(link)
  return appended(
    link,
    params.filter(([name]) => !searchParams.has(name)),
  )
}
