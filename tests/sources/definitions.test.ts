// C1: what a definition may be, what is refused, what a status means; and secrets by reference.

import { describe, expect, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { memory } from './places.ts'
import { ids, json, server } from './server.ts'
import { source, sourceWorld } from './world.ts'

const open = memory
const byText = (a: string, b: string) => (a < b ? -1 : 1)

async function problemsOf(work: Promise<unknown>): Promise<string[]> {
  const error: unknown = await work.then(
    () => null,
    thrown => thrown,
  )
  if (!(error instanceof SchedulerError)) throw new Error('nothing was refused')
  return error.problems.map(({ field, rule }) => `${field} ${rule}`)
}

describe('C1: a definition', () => {
  test('that is wrong in many ways is refused once, with every problem, and changes nothing', async () => {
    const w = await sourceWorld({ open, port: 1 })
    const { url: _, ...rest } = source(1)
    const wrong = {
      ...rest,
      name: 'a b',
      table: 'a;drop',
      schedule: 'weekly',
      colour: 'red',
      execution: { timeout: 0, maxRetries: 0, retryResetPeriod: '1x' },
      params: [{ name: 'api_key', value: 'canary' }, { name: 'page', value: '1' }, { value: [] }],
      headers: { Authorization: 'Bearer canary', Host: 'x' },
      response: {
        dataPath: 'a..b',
        fields: [
          { source: 'id', target: 'Id' },
          { source: 'a', target: 'created_at' },
          { source: 'b', target: 'twice' },
          { source: 'c', target: 'twice' },
        ],
      },
      cursorPagination: { nextCursorPath: 'next' },
    }
    const found = await problemsOf(w.sources.add('default', wrong))
    expect(found.map(text => text.split(' ')[0]!).toSorted(byText)).toEqual(
      [
        'name',
        'url',
        'table',
        'schedule',
        'colour',
        'execution.timeout',
        'execution.maxRetries',
        'execution.retryResetPeriod',
        'params.0.value',
        'params.1.name',
        'params.2.name',
        'params.2.value',
        'headers.Host',
        'headers.Authorization',
        'response.dataPath',
        'response.fields.0.target',
        'response.fields.1.target',
        'response.fields.3.target',
        'cursorPagination',
      ].toSorted(byText),
    )
    expect(found).toContain('url is needed')
    expect(found.join()).not.toContain('canary')
    const shown = await w.sources.add('default', wrong).catch((error: Error) => error)
    expect(JSON.stringify(shown)).not.toContain('canary')
    expect((await w.sources.list('default', { limit: 10 })).items).toEqual([])
  })

  test.each([
    ['schedule', 'weekly'],
    ['schedule', 'interval:0m'],
    ['schedule', 'interval:5d'],
    ['schedule', 'interval:'],
    ['table', 'a;drop'],
    ['table', 'A'],
    ['table', '1a'],
    ['table', 'x'.repeat(64)],
    ['url', 'ftp://example.com/'],
    ['url', 'http://127.0.0.1/'],
    ['url', 'http://user:pass@example.com/'],
    ['url', 'https://example.com/?api_key=canary'],
    ['name', ''],
    ['name', 'a/b'],
    ['status', ''],
  ])('%s %j is refused', async (field, value) => {
    const w = await sourceWorld({ open, port: 1 })
    const given = { ...source(1, { url: 'https://example.com/' }), [field]: value }
    const found = await problemsOf(w.sources.add('default', given))
    expect(found.map(text => text.split(' ')[0])).toEqual([field])
    expect(found.join()).not.toContain('canary')
  })

  test.each(['1h', '6h', '1d', '7d'])(
    'a period of %s is fine, and defaults are filled in',
    async period => {
      const w = await sourceWorld({ open, port: 1 })
      const url = 'https://example.com/items'
      const execution = { retryResetPeriod: period }
      const { table, response } = source(1)
      const made = await w.sources.add('default', { name: 'x', url, table, response, execution })
      expect(made).toMatchObject({
        schedule: 'daily',
        status: 'active',
        description: '',
        params: [],
        headers: {},
        execution: { timeout: 300, maxRetries: 5, retryResetPeriod: period },
      })
    },
  )

  test('a name is unique in its tenant, and says nothing about another', async () => {
    const w = await sourceWorld({ open, port: 1 })
    const given = source(1, { url: 'https://example.com/' })
    await w.sources.add('default', given)
    await expect(w.sources.add('default', given)).rejects.toMatchObject({ code: 'SOURCE_EXISTS' })
    await w.sources.add('acme', given)
    await expect(w.sources.get('globex', 'items')).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
    })
    expect((await w.sources.list('acme', { limit: 10 })).items).toHaveLength(1)
  })

  test('only active sources run: any other status waits for nothing', async () => {
    const site = await server()
    const w = await sourceWorld({ open, port: site.port })
    await w.add({ status: 'disabled' })
    await w.node('n1')
    await w.world.advance('3d')
    expect(site.asked).toEqual([])
    expect(await w.sources.get('default', 'items')).toMatchObject({ nextRunAt: null })
    await w.sources.update('default', 'items', { status: 'active' }, { merges: true })
    await w.world.advance(1)
    expect(await w.rows()).toEqual(ids(5))
  })

  test('a retry of a source that was switched off meanwhile is dropped', async () => {
    const site = await server({ trouble: (_, response) => json(response, {}, 500) })
    const w = await sourceWorld({ open, port: site.port })
    await w.add()
    await w.node('n1')
    await w.sources.update('default', 'items', { status: 'off' }, { merges: true })
    await w.world.advance('2d')
    expect(site.asked).toHaveLength(1)
    expect(await w.sources.get('default', 'items')).toMatchObject({ state: 'scheduled' })
  })
})

describe('secrets', () => {
  test('are looked up when sent, by tenant, and appear nowhere else', async () => {
    const site = await server({ records: 1 })
    const env = {
      CARILLON_SECRET_API: 'hush-default',
      'CARILLON_SECRET_API.acme': 'hush-acme',
      CARILLON_JWT_SECRET: 'hush-jwt',
    }
    const w = await sourceWorld({ open, port: site.port, env })
    const headers = { Authorization: { secret: 'API', prefix: 'Bearer ' } }
    const params = [{ name: 'api_key', value: { secret: 'API' } }]
    await w.sources.add('default', source(site.port, { headers, params }))
    await w.sources.add('acme', source(site.port, { headers, params }))
    await w.node('n1')
    const sent = site.asked.map(one => [
      one.headers.authorization,
      /api_key=([^&]*)/.exec(one.path)![1],
    ])
    expect(sent.toSorted((a, b) => byText(a[0]!, b[0]!))).toEqual([
      ['Bearer hush-acme', 'hush-acme'],
      ['Bearer hush-default', 'hush-default'],
    ])
    const told = [
      await w.sources.list('default', { limit: 10 }),
      await w.attempts(),
      await w.world.store.maintenance.dump({ limit: 250, cursor: null }),
      await w.world.store.log((await w.attempts())[0]!.id, { limit: 100 }),
    ]
    expect(JSON.stringify(told)).not.toContain('hush')
  })

  test('a missing one, or one of another name, is a failure that says which', async () => {
    const site = await server()
    const w = await sourceWorld({ open, port: site.port, env: { CARILLON_JWT_SECRET: 'hush' } })
    await w.add({ headers: { Authorization: { secret: 'JWT_SECRET' } } })
    await w.node('n1')
    expect((await w.attempts())[0]).toMatchObject({
      outcome: 'failed',
      error: { message: 'this node has no secret JWT_SECRET' },
    })
    expect(site.asked).toEqual([])
  })
})
