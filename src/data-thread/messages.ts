// What passes between a node and the thread that writes its SQLite files of pages and rows.

import type { Page } from '../actions/crawl/pages.ts'
import type { PageOfRows, Row } from '../sources/tables.ts'

/** Which file the thread writes, and as what. */
export interface DataFile {
  readonly kind: 'pages' | 'tables'
  readonly path: string
}

export type DataCall =
  | { readonly call: 'put'; readonly page: Page }
  | { readonly call: 'drop'; readonly page: Pick<Page, 'tenant' | 'jobId' | 'url'> }
  | {
      readonly call: 'retire'
      readonly crawl: { readonly tenant: string; readonly jobId: string; readonly before: number }
    }
  | { readonly call: 'remove'; readonly jobs: readonly Pick<Page, 'tenant' | 'jobId'>[] }
  /** With the rows that were sent before it under the same id. */
  | { readonly call: 'write'; readonly page: Omit<PageOfRows, 'rows'> }
  | { readonly call: 'removeRows'; readonly from: Pick<PageOfRows, 'tenant' | 'table' | 'source'> }
  | { readonly call: 'close' }

export type ToDataThread = { readonly id: number } & (
  | DataCall
  | { readonly call: 'rows'; readonly rows: readonly Row[] }
)

export type FromDataThread = { readonly id: number } & (
  | { readonly kind: 'done'; readonly count: number }
  | { readonly kind: 'failed'; readonly error: Failure }
)

/** An error as it is told: its class does not cross threads. */
export interface Failure {
  readonly message: string
  /** Of a SchedulerError. */
  readonly code: string | null
}
