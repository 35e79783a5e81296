// S7: the authorisation matrix. Every operation of the OpenAPI document, by every caller, on what is
// its own and on what is another tenant's: the answer is the one that `x-access` declares.

import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/core/json.ts'
import { mayAct, roles, type Role } from '../../src/service/auth/principal.ts'
import {
  bodyOf,
  isOwned,
  makesNamed,
  operationsOf,
  urlOf,
  type Operation,
} from './matrix/operations.ts'
import { markOf, ownedBy, type Owned } from './matrix/owned.ts'
import { startService, type Service } from './service.ts'

interface Caller {
  readonly name: string
  readonly role: Role | null
  readonly isWide: boolean
  readonly headers: Readonly<Record<string, string>>
}

const OUTSIDE = '203.0.113.9'
const OPERATIONS_MIN = 100

async function startMatrix() {
  const s = await startService({
    handlers: { work: ({ payload }) => payload },
    http: { authFailuresPerMinute: 1_000_000 },
  })
  const operations = operationsOf((await s.caller().get('/openapi.json')).text)
  expect(operations.length).toBeGreaterThan(OPERATIONS_MIN)
  return { s, operations }
}

async function callerOf(s: Service, role: Role | null, tenant: string): Promise<Caller> {
  const isWide = tenant === '*'
  const name = role === null ? 'nobody' : `${role}${isWide ? ' of *' : ''}`
  // The same subject everywhere: a name must not be enough to be known.
  const token = role === null ? null : await s.token(role, tenant, 'someone')
  return { name, role, isWide, headers: token === null ? {} : { authorization: `Bearer ${token}` } }
}

interface Cell {
  readonly operation: Operation
  readonly caller: Caller
  readonly own: Owned
}

/** From outside of this machine; nobody waits for a stream to end. */
async function ask(s: Service, { operation, caller, own }: Cell) {
  const { method } = operation
  const body = bodyOf(operation, own)
  const query = operation.takesTenant && caller.isWide ? `?tenant=${own.tenant}` : ''
  const answer = await s.app.inject({
    method: method as 'GET',
    url: urlOf(operation, own) + query,
    remoteAddress: OUTSIDE,
    headers: {
      'sec-fetch-site': 'same-origin',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...caller.headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    payloadAsStream: true,
  })
  const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
  const text = await readText(answer.stream(), isStream)
  await s.clock.settle()
  return { status: answer.statusCode, text }
}

async function readText(stream: Readable, isEndless: boolean): Promise<string> {
  let text = ''
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (isEndless) break
  }
  return text
}

/** What the declaration says: a status, or null where the caller may. */
function refusal({ operation, caller }: Cell, isForeign: boolean): number | null {
  const { access } = operation
  if (access === 'open') return null
  if (caller.role === null) return 401
  const needsAll = access === 'every-tenant' || access === 'metrics'
  const needed = needsAll ? 'admin' : access
  if (!mayAct(caller.role, needed) || (needsAll && !caller.isWide)) return 403
  return isForeign && isOwned(operation) && !caller.isWide ? 404 : null
}

const named = ({ operation, caller }: Cell, status: number | string) =>
  `${operation.method} ${operation.path} by ${caller.name}: ${status}`

/** Everything of a tenant that is stored, but the audit, in which refusals are written down. */
async function keptOf({ engine }: Service, mark: string): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  do {
    const page = await engine.store.maintenance.dump({ limit: 250, cursor })
    for (const entry of page.items) {
      const isAudit = entry.type === 'record' && entry.record.kind.startsWith('audit:')
      const text = canonicalJson(entry)
      if (!isAudit && text.includes(mark)) found.push(text)
    }
    cursor = page.cursor
  } while (cursor !== null)
  return found.sort()
}

test('S7: what a caller may not do is refused, and what is foreign does not exist', async () => {
  const { s, operations } = await startMatrix()
  const own = await ownedBy(s, 'globex', 1)
  const foreign = await ownedBy(s, 'acme', 2)
  s.engine.node.crash()
  await s.clock.settle()
  const mark = markOf('acme')
  const before = await keptOf(s, mark)
  expect(before.length).toBeGreaterThan(10)
  const callers = await Promise.all([null, ...roles].map(role => callerOf(s, role, 'globex')))
  const wrong: string[] = []
  let cells = 0
  const ordered = operations.toSorted((a, b) => Number(makesNamed(a)) - Number(makesNamed(b)))
  for (const operation of ordered) {
    for (const caller of callers) {
      for (const target of [own, foreign]) {
        const cell = { operation, caller, own: target }
        const expected = refusal(cell, target === foreign)
        // What is allowed on one's own is the other test: here nothing shall change.
        if (expected === null && target === own) continue
        const { status, text } = await ask(s, cell)
        cells++
        const isFine = expected === null ? ![401, 403].includes(status) : status === expected
        if (!isFine) wrong.push(named(cell, `${status}, not ${expected ?? 'allowed'}: ${text}`))
        const unsaid = [target.user, target.source].reduce(
          (t, said) => t.replaceAll(said, ''),
          text,
        )
        if (unsaid.includes(mark)) wrong.push(named(cell, `shows ${mark}: ${text}`))
      }
    }
  }
  expect(wrong).toEqual([])
  expect(cells).toBeGreaterThan(4 * OPERATIONS_MIN)
  expect(await keptOf(s, mark)).toEqual(before)
}, 120_000)

test.each(['viewer', 'operator', 'admin', 'admin of *'] as const)(
  'S7: every operation that is declared for a %s is theirs',
  async name => {
    const { s, operations } = await startMatrix()
    const isWide = name === 'admin of *'
    const role: Role = name === 'admin of *' ? 'admin' : name
    const own = await ownedBy(s, 'acme', 1)
    await ownedBy(s, 'globex', 2)
    const caller = await callerOf(s, role, isWide ? '*' : 'acme')
    const wrong: string[] = []
    // What ends or removes something comes last.
    const last = (one: Operation) =>
      Number(/DELETE/.test(one.method)) * 2 + Number(/cancel|release|complete|fail$/.test(one.path))
    for (const operation of operations.toSorted((a, b) => last(a) - last(b))) {
      const cell = { operation, caller, own }
      const expected = refusal(cell, false)
      const { status, text } = await ask(s, cell)
      const isFine =
        expected === null ? ![401, 403, 404].includes(status) && status < 500 : status === expected
      if (!isFine) wrong.push(named(cell, `${status}, not ${expected ?? 'allowed'}: ${text}`))
      if (!isWide && text.includes(markOf('globex')))
        wrong.push(named(cell, `shows globex: ${text}`))
    }
    expect(wrong).toEqual([])
  },
  60_000,
)

test('S7: what a body asks for can need more than the operation: bulk delete needs an admin', async () => {
  const { s } = await startMatrix()
  const { job } = await ownedBy(s, 'acme', 1)
  const body = { action: 'delete', ids: [job] }
  expect((await s.as('operator').post('/api/v1/bulk', body)).status).toBe(403)
  expect((await s.as('admin', 'globex').post('/api/v1/bulk', body)).status).toBe(202)
  await s.advance('1s')
  expect((await s.as('viewer').get(`/api/v1/jobs/${job}`)).status).toBe(200)
  expect((await s.as('admin').post('/api/v1/bulk', body)).status).toBe(202)
})
