// Who did what and when, the newest first. It is written with every deed and can
// only be read here.

import { z } from 'zod'
import type { JsonObject } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import type { StoredRecord } from '../../../core/record.ts'
import { iso } from '../../../core/time.ts'
import { auditKind } from '../../../jobs/audit.ts'
import type { Engine } from '../../../create-engine.ts'
import type { Page } from '../../../store/port.ts'
import { EVERY_TENANT, mayAct, tenantPattern, type Principal } from '../../auth/principal.ts'
import { cursorQuery } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'

/** Books opened for a reader of every tenant that names none. */
const BOOKS_MAX = 50

export const query = cursorQuery.extend({
  job: z.string().min(1).max(limits.idLength).optional(),
  tenant: z
    .union([z.literal(EVERY_TENANT), z.string().regex(tenantPattern)], {
      error: 'must be the name of a tenant, or * for what belongs to none',
    })
    .optional(),
})

const state = z
  .strictObject({ revision: z.int(), status: z.string(), hash: z.string() })
  .nullable()
  .optional()

export const entrySchema = z
  .looseObject({
    id: z.string(),
    at: z.iso.datetime(),
    actor: z.string(),
    actor_tenant: z.string(),
    tenant: z.string(),
    action: z.string(),
    object: z.string().nullable(),
    result: z.string(),
    ip: z.string().nullable().meta({ description: 'Shown to admins only.' }),
    request_id: z.string().nullable(),
    count: z
      .int()
      .optional()
      .meta({ description: 'How often it happened in the minute from `at`; for tasks, how many.' }),
    last_at: z.iso.datetime().optional(),
    before: state,
    after: state,
  })
  .meta({ id: 'AuditEntry' })

export const answer = z
  .strictObject({
    entries: z.array(entrySchema),
    limit: z.int(),
    next_cursor: z.string().nullable(),
    is_cut: z.boolean().meta({ description: 'There is more: name a tenant to page through it.' }),
  })
  .meta({ id: 'AuditList' })

type Query = z.output<typeof query>

export const listAudit = useCase({
  access: 'viewer',
  query,
  result: answer,
  handle: async call => {
    const { caller } = call
    const { limit, tenant } = call.query
    const isWide = caller.tenant === EVERY_TENANT
    const book = isWide ? (tenant ?? null) : caller.tenant
    const found =
      book === null
        ? await readAll(call.engine, call.query)
        : { ...(await readBook(call.engine, book, call.query)), isCut: false }
    return {
      entries: found.items.map(record => entryView(record, caller)),
      limit,
      next_cursor: found.cursor,
      is_cut: found.isCut,
    }
  },
})

/** Looks at a bounded number for those of one job; a short page goes on with its cursor. */
async function readBook(
  { store, clock }: Engine,
  tenant: string,
  asked: Query,
): Promise<Page<StoredRecord>> {
  const { limit, job } = asked
  const items: StoredRecord[] = []
  let cursor = asked.cursor ?? null
  let looked = 0
  do {
    const room = job === undefined ? limit : limits.pageMax
    const page: Page<StoredRecord> = await store.listRecords(
      auditKind(tenant),
      { limit: room, cursor, newestFirst: true },
      clock.now(),
    )
    looked += page.items.length
    cursor = page.cursor
    for (const record of page.items) {
      if (job !== undefined && objectOf(record).object !== job) continue
      items.push(record)
      // Keys are the marks of this list, so a page may end in the middle of what was read.
      if (items.length === limit) {
        const isLast = record === page.items.at(-1) && cursor === null
        return { items, cursor: isLast ? null : record.key }
      }
    }
  } while (cursor !== null && job !== undefined && looked < limits.scannedMax)
  return { items, cursor }
}

/** The newest of all tenants together; each book is paged through by naming its tenant. */
async function readAll(engine: Engine, asked: Query) {
  const tenants = await engine.store.tenants({ limit: BOOKS_MAX })
  const books = [EVERY_TENANT, ...tenants.items.map(({ tenant }) => tenant)]
  const { cursor: _none, ...first } = asked
  const found: StoredRecord[] = []
  let isCut = tenants.cursor !== null
  for (const book of books) {
    const page = await readBook(engine, book, first)
    found.push(...page.items)
    isCut ||= page.cursor !== null
  }
  found.sort((a, b) => (a.key < b.key ? 1 : -1))
  return {
    items: found.slice(0, asked.limit),
    cursor: null,
    isCut: isCut || found.length > asked.limit,
  }
}

function objectOf({ value }: StoredRecord): JsonObject {
  return value as JsonObject
}

function entryView(record: StoredRecord, caller: Principal): z.output<typeof entrySchema> {
  const value = objectOf(record)
  const ip = mayAct(caller.role, 'admin') ? value.ip : null
  const { last_at: last } = value
  const counted = typeof last === 'number' ? { last_at: iso(last) } : {}
  return { ...value, ...counted, id: record.key, at: iso(Number(value.at)), ip } as z.output<
    typeof entrySchema
  >
}
