// The port through which crawled pages are kept and found again.

import type { Instant } from '../../core/time.ts'

export interface Page {
  readonly tenant: string
  readonly jobId: string
  readonly runId: string
  readonly source: string
  readonly url: string
  readonly title: string
  readonly text: string
  readonly fetchedAt: Instant
}

export interface PageQuery {
  readonly tenant: string
  /** Words that must all be there. */
  readonly text: string
  readonly source?: string
  readonly jobId?: string
  readonly limit: number
  readonly offset: number
}

export interface Found {
  readonly url: string
  readonly title: string
  readonly source: string
  readonly jobId: string
  readonly fetchedAt: Instant
  /** The text around the words. */
  readonly snippet: string
}

export interface FoundPages {
  readonly items: readonly Found[]
  readonly total: number
}

/** One page per tenant, job and URL; the newest crawl of it counts. */
export interface PageSink {
  put(page: Page): Promise<void>
  /** The page is no longer there. */
  drop(page: Pick<Page, 'tenant' | 'jobId' | 'url'>): Promise<void>
  /** Drops what a complete crawl, begun at this moment, no longer found; says how many. */
  retire(crawl: { tenant: string; jobId: string; before: Instant }): Promise<number>
  /** Everything a removed job has left. */
  remove(jobs: readonly { tenant: string; jobId: string }[]): Promise<void>
  search(query: PageQuery): Promise<FoundPages>
  close(): Promise<void>
}

export const QUERY_LENGTH_MAX = 500

/** The words of a query, without anything a search engine would take for an operator. */
export function wordsOf(text: string): string[] {
  return text.slice(0, QUERY_LENGTH_MAX).match(/[\p{L}\p{N}_]+/gu) ?? []
}
