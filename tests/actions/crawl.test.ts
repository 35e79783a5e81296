// The crawl action in a running node, over a small real site with everything sites get wrong (B12).

import { describe, expect, it, onTestFinished } from 'vitest'
import { crawlAction } from '../../src/actions/crawl/action.ts'
import { HostPace } from '../../src/actions/crawl/pace.ts'
import type { PageSink } from '../../src/actions/crawl/pages.ts'
import { SqlitePages } from '../../src/actions/crawl/sqlite-pages.ts'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { Registry } from '../../src/actions/registry.ts'
import type { SpecInput } from '../../src/core/spec.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { allow, eager, startNode } from './node.ts'
import { eventually } from '../support/servers/wait.ts'
import { site, type Answer } from './site.ts'

const html = { 'content-type': 'text/html; charset=utf-8' }
const link = (path: string) => `<a href="${path}">${path}</a>`
const links = (...paths: string[]) => paths.map(link).join('')

type Served = string | { status?: number; headers?: Record<string, string>; body?: string }

/** A site from a table; what is not in it is 404. */
const serving =
  (table: Record<string, Served>): Answer =>
  ({ path }, response) => {
    const found = table[path]
    if (found === undefined) return response.writeHead(404, html).end('not found')
    const {
      status = 200,
      headers = html,
      body = '',
    } = typeof found === 'string' ? { body: found } : found
    return response.writeHead(status, headers).end(body)
  }

async function crawling(answer: Answer, wrap: (pages: PageSink) => PageSink = pages => pages) {
  const web = await site(answer)
  const outbound = new Outbound({ clock: systemClock, allow: allow(`127.0.0.1:${web.port}`) })
  const pages = SqlitePages.open({ path: ':memory:', open: openDatabase })
  onTestFinished(async () => {
    await outbound.close()
    await pages.close()
  })
  const actions = new Registry().add(
    crawlAction({
      outbound,
      clock: systemClock,
      pages: wrap(pages),
      pace: new HostPace(systemClock),
      agent: 'carillon',
      userAgent: 'Carillon/test',
    }),
  )
  const node = await startNode(actions.handlers)
  const crawl = async (settings: object = {}, spec: Partial<SpecInput> = {}) => {
    const given = { kind: 'crawl', url: `${web.origin}/`, delay_ms: 0, ...settings }
    const { action, problems } = actions.check(given)
    expect(problems).toEqual([])
    return node.create({ retry: eager, ...spec, ...actions.specOf(action!, null) })
  }
  const found = async (text: string) => {
    const query = { tenant: 'default', text, limit: 50, offset: 0 }
    return (await pages.search(query)).items.map(({ url }) => url.slice(web.origin.length)).sort()
  }
  const paths = () => web.asked.map(({ path }) => path)
  return { web, node, pages, crawl, found, paths }
}

describe('a crawl of a site', () => {
  it('takes what robots.txt allows, past loops and broken pages, and indexes it', async () => {
    const { node, crawl, found, paths } = await crawling(
      serving({
        '/robots.txt': {
          headers: { 'content-type': 'text/plain' },
          body: 'User-agent: *\nDisallow: /private\n\nUser-agent: carillon\nDisallow: /secret\n',
        },
        '/': `<title>Home</title><p>welcome home ${links('/a', '/b', '/secret/x', '/private')}`,
        '/a': `alpha page ${links('/', '/a', '/b', '/broken', '/gone', '/moved', '/data.pdf')}`,
        '/b': `beta page ${links('/a?session=1', '/loop', '/hidden', 'http://example.com/', '#x')}`,
        '/a?session=1': `alpha page ${links('/', '/b', '/broken', '/a?session=2')}`,
        '/broken': { status: 500, headers: html, body: 'oops' },
        '/moved': { status: 301, headers: { location: '/target' } },
        '/target': 'target page',
        '/loop': { status: 302, headers: { location: '/loop' } },
        '/hidden': {
          headers: { ...html, 'x-robots-tag': 'noindex' },
          body: `shy ${link('/deep')}`,
        },
        '/deep': 'deep page',
        '/data.pdf': { headers: { 'content-type': 'application/pdf' }, body: '%PDF' },
        '/private': 'for others only',
        '/secret/x': 'never',
      }),
    )
    await crawl({ depth: 5 })
    const [attempt] = await node.attempts(1)
    expect(attempt).toMatchObject({ outcome: 'succeeded' })
    expect(new Set(paths()).size).toBe(paths().length)
    expect(paths()).not.toContain('/secret/x')
    expect(await found('page')).toEqual(['/a', '/b', '/deep', '/target', '/a?session=1'].sort())
    expect(await found('welcome')).toEqual(['/'])
    expect(await found('others')).toEqual(['/private'])
    expect([await found('shy'), await found('never')]).toEqual([[], []])
    const { items_crawled: crawled, items_indexed: indexed } = attempt!.measures as {
      items_crawled: number
      items_indexed: number
    }
    expect([crawled, indexed]).toEqual([8, 7])
    expect(attempt!.result).toMatchObject({
      crawled: 8,
      indexed: 7,
      failed: 3,
      unanswered: 1,
      is_complete: false,
    })
    expect(node.logged.map(({ message }) => message.replace(/http:\S+?\d+\//, '/'))).toEqual(
      expect.arrayContaining(['/broken: answered 500', '/gone: answered 404', 'crawl finished']),
    )
  })

  it('a copy of a page under another address is neither indexed nor followed', async () => {
    let visits = 0
    const { node, crawl, found } = await crawling(({ path }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end()
      const next = `/?session=${++visits}`
      return response.writeHead(200, html).end(`always the same <a href="${next}"></a>`)
    })
    await crawl({ depth: 20 })
    const [attempt] = await node.attempts(1)
    expect(attempt!.result).toMatchObject({ crawled: 2, indexed: 1 })
    expect(await found('same')).toEqual(['/'])
  })

  it('stops at its depth and at its number of pages', async () => {
    const endless: Answer = ({ path }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end()
      const n = Number(path.slice(1) || 0)
      return response
        .writeHead(200, html)
        .end(`page ${n} ${link(`/${n * 2 + 1}`)} ${link(`/${n * 2 + 2}`)}`)
    }
    const deep = await crawling(endless)
    await deep.crawl({ depth: 2 })
    expect((await deep.node.attempts(1))[0]!.result).toMatchObject({
      crawled: 7,
      is_complete: true,
    })
    const many = await crawling(endless)
    await many.crawl({ depth: 20, pages: 12 })
    const [attempt] = await many.node.attempts(1)
    expect(attempt!.result).toMatchObject({ crawled: 12, is_complete: false })
  })

  it('waits between requests, longer when robots.txt asks for it', async () => {
    const { node, crawl } = await crawling(
      serving({
        '/robots.txt': { headers: html, body: 'User-agent: *\nCrawl-delay: 0.1\n' },
        '/': `start ${link('/a')} ${link('/b')}`,
        '/a': 'first',
        '/b': 'second',
      }),
    )
    await crawl({ delay_ms: 1 })
    const [attempt] = await node.attempts(1)
    expect(attempt!.result).toMatchObject({ crawled: 3 })
    expect(attempt!.finishedAt - attempt!.startedAt).toBeGreaterThanOrEqual(200)
  })

  it('resumes where the attempt before stopped, and fetches nothing twice', async () => {
    let writes = 0
    const failing = (pages: PageSink): PageSink => ({
      put: async page => {
        if (++writes === 4) throw new Error('disk trouble')
        await pages.put(page)
      },
      drop: page => pages.drop(page),
      retire: crawl => pages.retire(crawl),
      remove: jobs => pages.remove(jobs),
      search: query => pages.search(query),
      close: () => pages.close(),
    })
    const table: Record<string, string> = {
      '/': `start ${[1, 2, 3, 4, 5].map(n => link(`/${n}`)).join('')}`,
    }
    for (const n of [1, 2, 3, 4, 5]) table[`/${n}`] = `page number ${n}`
    const { node, crawl, found, paths } = await crawling(serving(table), failing)
    await crawl()
    const [first, second] = await node.attempts(2)
    expect(first!.outcome).toBe('failed')
    expect(second).toMatchObject({
      outcome: 'succeeded',
      result: { crawled: 7, indexed: 6 },
      measures: { items_crawled: 3, items_indexed: 3 },
    })
    expect(await found('page number')).toEqual(['/1', '/2', '/3', '/4', '/5'])
    const fetched = paths().filter(path => path !== '/robots.txt')
    expect(fetched).toEqual(['/', '/1', '/2', '/3', '/3', '/4', '/5'])
  })

  it('a cancelled crawl stops promptly and its request ends', async () => {
    let closed = 0
    const { web, node, crawl } = await crawling(({ path }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end()
      return response.on('close', () => closed++)
    })
    const { id } = await crawl()
    await eventually('the first page', () => web.asked.length === 2 || null)
    const askedAt = systemClock.now()
    await node.engine.client.cancel(id)
    await eventually('the connection to be closed', () => closed === 1 || null)
    expect(systemClock.now() - askedAt).toBeLessThan(2_000)
  })

  it('a host in trouble is left in peace: waits, then goes on another time', async () => {
    let visits = 0
    const { node, crawl } = await crawling(({ path }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end()
      visits++
      if (visits <= 4) return response.writeHead(503, { 'retry-after': '0' }).end()
      return response.writeHead(200, html).end('fine at last')
    })
    await crawl()
    const [first, second] = await node.attempts(2)
    expect(first!.error?.message).toBe('the host answered 503 too often')
    expect(second!.result).toMatchObject({ crawled: 1, indexed: 1 })
  })

  it('a start page that fails fails the attempt, and the next one tries it again', async () => {
    let visits = 0
    const { node, crawl } = await crawling(({ path }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end()
      return response.writeHead(++visits === 1 ? 500 : 200, html).end('there')
    })
    await crawl()
    const [first, second] = await node.attempts(2)
    expect(first!.error?.message).toContain('the start page cannot be fetched')
    expect(second!.result).toMatchObject({ crawled: 1, indexed: 1 })
  })

  it('a site that does not want to be crawled is skipped, not failed', async () => {
    const robots = { headers: html, body: 'User-agent: *\nDisallow: /\n' }
    const { node, crawl, paths } = await crawling(serving({ '/robots.txt': robots, '/': 'no' }))
    await crawl()
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('skipped')
    expect(paths()).toEqual(['/robots.txt'])
  })

  it('robots.txt in trouble means nothing is fetched', async () => {
    const { node, crawl, paths } = await crawling(
      serving({ '/robots.txt': { status: 500 }, '/': 'page' }),
    )
    await crawl({}, { retry: { ...eager, limit: 0 } })
    const [attempt] = await node.attempts(1)
    expect(attempt!.outcome).toBe('failed')
    expect(paths()).toEqual(['/robots.txt'])
  })

  it('a complete crawl forgets the pages that are no longer there', async () => {
    const table: Record<string, Served> = { '/': `start ${link('/a')}`, '/a': 'old page' }
    const { node, crawl, found } = await crawling(serving(table))
    const { id } = await crawl({}, { trigger: { kind: 'manual' } })
    await node.engine.client.run(id)
    await node.attempts(1)
    expect(await found('old')).toEqual(['/a'])
    table['/'] = 'start without links'
    await node.engine.client.run(id)
    const [, second] = await node.attempts(2)
    expect(second!.result).toMatchObject({ crawled: 1, retired: 1, is_complete: true })
    expect(await found('old')).toEqual([])
  })

  it('a link to an internal address is never followed', async () => {
    const inner = await site((_, response) => response.end('secret'))
    const { node, crawl } = await crawling(
      serving({
        '/': `start ${link(`${inner.origin}/`)} ${link('/out')}`,
        '/out': { status: 302, headers: { location: `${inner.origin}/` } },
      }),
    )
    await crawl()
    expect((await node.attempts(1))[0]!.outcome).toBe('succeeded')
    expect(inner.connections).toBe(0)
  })
})
