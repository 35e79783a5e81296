// Pages of lists: by offset as the originals count, or by a cursor that stays right while rows come
// and go.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import type { Page, PageRequest } from '../../../store/port.ts'

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  offset: z.coerce.number().int().min(0).max(limits.offsetMax).optional(),
  cursor: z.string().min(1).max(1_000).optional(),
})

/** Pages of what is counted by nobody: a cursor is all there is to go on with. */
export const cursorQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  cursor: z
    .string()
    .regex(/^[\x21-\x7e]{1,400}$/, 'must be a next_cursor')
    .optional(),
})

export type PageQuery = z.output<typeof pageQuery>

export const pageAnswer = {
  limit: z.int(),
  offset: z.int(),
  next_cursor: z.string().nullable().meta({ description: 'Give it back as cursor to go on.' }),
}

/** A cursor wins: it knows better where it was. */
export function pageOf(query: PageQuery, newestFirst = true): PageRequest {
  const { limit, offset, cursor } = query
  if (cursor !== undefined) return { limit, cursor, newestFirst }
  return offset === undefined ? { limit, newestFirst } : { limit, offset, newestFirst }
}

/** Page after page of a list, until `most` rows were read. */
export async function* pagesOf<T>(
  read: (page: PageRequest) => Promise<Page<T>>,
  most: number = limits.offsetMax,
): AsyncGenerator<Page<T>, void> {
  let cursor: string | null = null
  let count = 0
  do {
    const page: Page<T> = await read({ limit: limits.pageMax, cursor })
    yield page
    count += page.items.length
    cursor = page.cursor
  } while (cursor !== null && count < most)
}

export function pageFields<T>(query: PageQuery, page: Page<T>) {
  return { limit: query.limit, offset: query.offset ?? 0, next_cursor: page.cursor }
}
