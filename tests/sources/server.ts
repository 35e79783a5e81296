// The server of these tests: so many records in pages of two, and every way to misbehave.

import type { ServerResponse } from 'node:http'
import { site, type Asked, type Site } from '../actions/site.ts'

export interface PagedServer extends Site {
  /** What was asked for, without the host. */
  readonly paths: () => string[]
}

/** What happens to a request before it is answered; true when it was dealt with. */
export type Trouble = (asked: URLSearchParams, response: ServerResponse, nth: number) => boolean

export interface ServerOptions {
  readonly records?: number
  readonly trouble?: Trouble
}

const record = (id: number) => ({ id, name: `n${id}` })

/** `?page=<n>&limit=<n>` from 1, or `?cursor=<n>` from the start; `{ data, more, next }`. */
export async function server(options: ServerOptions = {}): Promise<PagedServer> {
  const { records = 5, trouble = () => false } = options
  let nth = 0
  const made = await site((asked, response) => {
    nth++
    const query = queryOf(asked)
    if (trouble(query, response, nth)) return
    const limit = Number(query.get('limit') ?? 2)
    const from = query.has('cursor') ? Number(query.get('cursor')) : (pageOf(query) - 1) * limit
    const ids = Array.from({ length: Math.min(limit, records - from) }, (_, i) => from + i + 1)
    const more = from + limit < records
    json(response, { data: ids.map(record), more, next: more ? from + limit : null })
  })
  return Object.assign(made, { paths: () => made.asked.map(({ path }) => path) })
}

export function queryOf({ path }: Asked): URLSearchParams {
  return new URL(path, 'http://host').searchParams
}

export function pageOf(query: URLSearchParams): number {
  return Number(query.get('page') ?? 1)
}

export function json(response: ServerResponse, body: unknown, status = 200): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

export const ids = (count: number) =>
  Array.from({ length: count }, (_, i) => [String(i + 1), `n${i + 1}`])
