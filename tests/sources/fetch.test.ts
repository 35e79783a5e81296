// C6–C9: pages, rows, timeouts and misbehaving servers, with the rows that must be left.

import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { iso, MINUTE } from '../../src/core/time.ts'
import { moment } from '../support/world.ts'
import { memory, places } from './places.ts'
import { ids, json, pageOf, server } from './server.ts'
import { AT, HOST, source, sourceWorld } from './world.ts'

const cursor = { cursorParam: 'cursor', nextCursorPath: 'next' }
const byCursor = { offsetPagination: undefined, cursorPagination: cursor }

describe.each([...places, ['sqlite beside a store without tables', memory] as const])(
  'a fetch on %s',
  (_, open) => {
    test('C7: all pages in one run, by number, parameters in their order', async () => {
      const site = await server()
      const w = await sourceWorld({ open, port: site.port })
      const url = `http://${HOST}:${site.port}/items?v=1`
      const params = [
        { name: 'z', value: 'a b&c' },
        { name: 'a', value: 7 },
        { name: 'z', value: true },
      ]
      await w.add({ url, params })
      await w.node('n1')
      const fixed = '/items?v=1&z=a%20b%26c&a=7&z=true'
      expect(site.paths()).toEqual([1, 2, 3].map(page => `${fixed}&page=${page}&limit=2`))
      expect(await w.rows()).toEqual(ids(5))
      expect(await w.attempts()).toMatchObject([
        { outcome: 'succeeded', result: { pages: 3, records: 5, rows_added: 5 } },
      ])
    })

    test('C7: all pages in one run, by cursor', async () => {
      const site = await server()
      const w = await sourceWorld({ open, port: site.port })
      await w.add(byCursor)
      await w.node('n1')
      expect(site.paths()).toEqual(['/items', '/items?cursor=2', '/items?cursor=4'])
      expect(await w.rows()).toEqual(ids(5))
    })

    test('C6, C9: a repeated fetch changes nothing, and is a success all the same', async () => {
      const site = await server()
      const w = await sourceWorld({ open, port: site.port })
      await w.add({ schedule: 'hourly' })
      await w.node('n1')
      const before = await w.rows('id, name, source_name, created_at, row_key')
      await w.world.advance('1h')
      expect(await w.rows('id, name, source_name, created_at, row_key')).toEqual(before)
      const found = await w.sources.get('default', 'items')
      expect(iso(found.lastSuccessAt!)).toBe('2026-01-05T11:00:00.000Z')
      expect((await w.attempts())[1]).toMatchObject({ result: { records: 5, rows_added: 0 } })
    })

    test('C9: the table is made from the fields, with source_name, created_at and a key', async () => {
      const site = await server({
        trouble: (_query, response) =>
          json(response, {
            data: [
              { id: 1, deep: { a: [1, 'x'] }, name: 'q"\'; drop table jobs; --', is: false },
              { id: 2, name: 'nul \u0000 here' },
              { id: 2, name: 'nul \u0000 here' },
            ],
          }),
      })
      const w = await sourceWorld({ open, port: site.port })
      const response = {
        dataPath: 'data',
        fields: ['id', 'name', 'deep.a', 'is', '.'].map((from, i) => ({
          source: from,
          target: ['id', 'select', 'deep_a', 'order', 'whole'][i]!,
        })),
      }
      await w.add({ response, offsetPagination: undefined })
      await w.node('n1')
      const columns = 'id, "select", deep_a, "order", source_name'
      expect(await w.rows(columns)).toEqual([
        ['1', 'q"\'; drop table jobs; --', '[1,"x"]', 'false', 'items'],
        ['2', 'nul \uFFFD here', null, null, 'items'],
      ])
      const [[created]] = (await w.rows('created_at')) as [[string | Date]]
      expect(new Date(created).toISOString()).toBe('2026-01-05T10:00:00.000Z')
      // Another source adds its rows and columns to the same table.
      const fields = [
        { source: 'id', target: 'id' },
        { source: 'name', target: 'more' },
      ]
      await w.add({
        name: 'second',
        response: { dataPath: 'data', fields },
        offsetPagination: undefined,
      })
      await w.world.settle()
      expect((await w.rows('source_name, more')).length).toBe(4)
    })

    test('C6: fails on page 7 twice: pages stay, each retry restarts at page 1', async () => {
      let failures = 0
      const site = await server({
        records: 16,
        trouble: (query, response) =>
          pageOf(query) === 7 && failures++ < 2 && json(response, {}, 503),
      })
      const w = await sourceWorld({ open, port: site.port })
      await w.add()
      await w.node('n1')
      expect(await w.rows()).toEqual(ids(12))
      await w.world.advance('2m')
      expect(await w.rows()).toEqual(ids(12))
      await w.world.advance('4m')
      expect(await w.rows()).toEqual(ids(16))
      const pages = site.asked.map(({ path }) => Number(/page=(\d+)/.exec(path)![1]))
      const first = [1, 2, 3, 4, 5, 6, 7]
      expect(pages).toEqual([...first, ...first, ...first, 8])
      expect((await w.attempts()).map(({ outcome, measures }) => [outcome, measures])).toEqual([
        ['failed', { pages: 6, records: 12, rows_added: 12 }],
        ['failed', { pages: 6, records: 12, rows_added: 0 }],
        ['succeeded', { pages: 8, records: 16, rows_added: 4 }],
      ])
      const times = w.world.runs.map(({ at }) => (at - moment(AT)) / MINUTE)
      expect(times).toEqual([0, 2, 6])
    })

    test('C6: a page that cannot be written leaves nothing of itself', async () => {
      const site = await server()
      const w = await sourceWorld({ open, port: site.port, limits: { recordsMax: 1 } })
      await w.add()
      await w.node('n1')
      expect((await w.attempts())[0]?.error?.message).toBe(
        'the answer at data has more than 1 records',
      )
      await expect(w.rows()).rejects.toThrow(/items/)
    })
  },
)

async function failed(trouble: Parameters<typeof server>[0], more = {}, limits = {}) {
  const site = await server(trouble)
  const w = await sourceWorld({ port: site.port, limits })
  await w.add(more)
  await w.node('n1')
  const [attempt] = await w.attempts()
  const rows = await w.rows().catch(() => [])
  return { outcome: attempt?.outcome, message: attempt?.error?.message, rows, site, w }
}

describe('C7: what a server may do wrong', () => {
  test('a repeated cursor ends the run with an error; its pages stay', async () => {
    const end = await failed(
      {
        records: 50,
        trouble: (query, response) =>
          query.get('cursor') === '4' && json(response, { data: [{ id: 9 }], next: 2 }),
      },
      byCursor,
    )
    expect(end).toMatchObject({ outcome: 'failed', message: 'page 3 repeats a cursor' })
    expect(end.site.asked).toHaveLength(3)
    expect(end.rows).toEqual([...ids(4), ['9', null]])
  })

  test('a page that holds the same as the one before is an error', async () => {
    const data = [{ id: 1 }, { id: 2 }]
    const end = await failed({ trouble: (_, response) => json(response, { data, more: true }) })
    expect(end.message).toBe('page 2 holds the same records as the page before')
    expect(end.rows).toHaveLength(2)
  })

  test('an empty page that says more follows is an error by number, but not by cursor', async () => {
    const empty = (next: number | null) => ({ data: [], more: next !== null, next })
    const byPage = await failed({ trouble: (_, response) => json(response, empty(1)) })
    expect(byPage.message).toBe('page 1 is empty although more is said to follow')
    const fine = await failed(
      { trouble: (_, response, nth) => json(response, empty(nth < 4 ? nth : null)) },
      byCursor,
    )
    expect(fine).toMatchObject({ outcome: 'succeeded', rows: [] })
  })

  test('too many pages are an error; those that were read stay', async () => {
    const end = await failed({ records: 100 }, {}, { pagesMax: 10 })
    expect(end).toMatchObject({ outcome: 'failed', message: 'the source has more than 10 pages' })
    expect(end.rows).toEqual(ids(20))
    expect(end.site.asked).toHaveLength(10)
  })

  test('S3: a run that fetches more bytes than it may ends with an error that says so', async () => {
    const end = await failed({ records: 100 }, {}, { runBytesMax: 100 })
    const message = 'the run fetched more than 100 bytes (runBytesMax)'
    expect(end).toMatchObject({ outcome: 'failed', message })
  })

  test('without a mark of more, the first page that is not full is the last', async () => {
    const offsetPagination = { pageParam: 'page', limitParam: 'limit', limit: 2 }
    const end = await failed({ records: 5 }, { offsetPagination })
    expect(end).toMatchObject({ outcome: 'succeeded', rows: ids(5) })
    expect(end.site.asked).toHaveLength(3)
  })

  test('the parameter may count records, and begin anywhere', async () => {
    const offset = { pageParam: 'cursor', limit: 2, hasMorePath: 'more', counts: 'records' }
    const end = await failed({ records: 5 }, { offsetPagination: offset })
    expect(end.site.paths()).toEqual([0, 2, 4].map(from => `/items?cursor=${from}`))
    const zero = await failed(
      { trouble: (_, response) => json(response, { data: [] }) },
      { offsetPagination: { pageParam: 'page', limit: 2, first: 0 } },
    )
    expect(zero.site.paths()).toEqual(['/items?page=0'])
  })

  test('a body of 50 MB is not read to its end', async () => {
    let sent = 0
    const chunk = Buffer.alloc(64 * 1024, ' ')
    const end = await failed({
      trouble: (_, response) => {
        const push = () => {
          while (sent < 50 * 1024 * 1024 && !response.destroyed) {
            sent += chunk.length
            if (!response.write(chunk)) return
          }
          response.end('[]')
        }
        response.writeHead(200)
        response.on('drain', push)
        push()
        return true
      },
    })
    expect(end.outcome).toBe('failed')
    expect(end.message).toMatch(/the answer has more than 10485760 bytes$/)
    expect(sent).toBeLessThan(30 * 1024 * 1024)
    expect(end.rows).toEqual([])
  })

  test('a redirect to the loopback is refused, and nothing is sent there', async () => {
    const inner = await server()
    const end = await failed({
      trouble: (_, response) => {
        response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/items` }).end()
        return true
      },
    })
    expect(end.outcome).toBe('failed')
    expect(end.message).toContain('must not point to an internal address')
    expect(inner.connections).toBe(0)
  })

  test('a redirect within what is allowed is followed, without credentials to another host', async () => {
    const site = await server({
      trouble: (query, response) => {
        if (query.has('moved')) return false
        const to = `http://other.example.test:${site.port}/items?moved=1&page=1&limit=50`
        response.writeHead(307, { location: to }).end()
        return true
      },
    })
    const env = { CARILLON_SECRET_API: 'hush-hush' }
    const w = await sourceWorld({ port: site.port, env })
    await w.add({ headers: { Authorization: { secret: 'API', prefix: 'Bearer ' } } })
    await w.node('n1')
    expect(site.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer hush-hush',
      undefined,
    ])
    expect(await w.rows()).toEqual(ids(5))
  })

  test('links to the next page are followed within the origin only', async () => {
    const link = (next: string) =>
      failed(
        {
          trouble: (query, response) =>
            !query.has('cursor') && json(response, { data: [{ id: 1, name: 'n1' }], next }),
        },
        { offsetPagination: undefined, cursorPagination: { nextCursorPath: 'next' } },
      )
    const rows = [
      ['1', 'n1'],
      ['5', 'n5'],
    ]
    expect(await link('?cursor=4')).toMatchObject({ outcome: 'succeeded', rows })
    expect(await link('/items?cursor=4&limit=2')).toMatchObject({ outcome: 'succeeded', rows })
    const away = await link('http://127.0.0.1:80/')
    expect(away.message).toBe('the next link leads to another origin: http://127.0.0.1')
    expect((await link('http://[')).message).toBe('the next link is no URL')
  })

  test.each([
    [
      'nothing at the path',
      { data: { no: 'list' } },
      'the answer at data is not a list of records',
    ],
    ['prototypes at the path', {}, 'the answer at data is not a list of records'],
  ])('%s is an error', async (_what, body, message) => {
    const end = await failed({ trouble: (_, response) => json(response, body) })
    expect(end.message).toBe(message)
  })

  test('what is not JSON is not repeated in the error', async () => {
    const end = await failed({
      trouble: (_, response) => {
        response.end('hush-hush {')
        return true
      },
    })
    expect(end.message).toBe(
      `http://${HOST}:${end.site.port}/items?… answered something that is not JSON`,
    )
  })
})

describe('C6: the timeout', () => {
  test('a server that drips one byte a second is cut off to the millisecond, pages stay', async () => {
    let drip: ServerResponse | null = null
    const site = await server({
      trouble: (query, response) => {
        if (pageOf(query) < 3) return false
        drip = response
        return true
      },
    })
    const w = await sourceWorld({ port: site.port, holds: true })
    await w.add({ execution: { timeout: 20 } })
    const n1 = await w.node('n1')
    for (let spin = 0; drip === null && spin < 10_000; spin++) await w.world.settle()
    for (let second = 0; second < 19; second++) {
      await w.world.advance('1s')
      drip!.write(' ')
    }
    await w.world.advanceTo('2026-01-05T10:00:19.999Z')
    expect(n1.node.running).toBe(1)
    await w.world.advance(1)
    await w.world.settle()
    const [attempt] = await w.attempts()
    expect(attempt).toMatchObject({ outcome: 'timedOut' })
    expect(attempt!.finishedAt - attempt!.startedAt).toBe(20_000)
    expect(await w.rows()).toEqual(ids(4))
    const found = await w.sources.get('default', 'items')
    expect(found.retry.retryCount).toBe(1)
    expect(iso(found.retry.nextRetryAt!)).toBe('2026-01-05T10:02:20.000Z')
  })
})

test('a source is a value of the one job model', async () => {
  const { specC } = await import('../support/systems.ts')
  const { specOf } = await import('../../src/sources/spec.ts')
  const { checkSource } = await import('../../src/sources/check.ts')
  const { document } = checkSource(source(80, { schedule: 'interval:15m' }), () => null)
  const { handler, payload, name, metadata, ...rest } = specOf(document!, 'default')
  const plain = specC({ every: '15m' }, { isAction: true, handler: 'action:source' })
  const { handler: _h, payload: _p, name: _n, metadata: _m, ...meant } = plain
  expect(rest).toEqual(meant)
  expect([handler, name]).toEqual(['action:source', 'items'])
  expect(payload).toMatchObject({ action: { kind: 'source', table: 'items' } })
  expect(metadata).toHaveProperty('carillon:source.schedule', 'interval:15m')
})
