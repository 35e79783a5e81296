// Crawl jobs over HTTP: a real site is crawled, what was found is searched for (B12, B20).

import { describe, expect, it, onTestFinished } from 'vitest'
import type { PageSink } from '../../src/actions/index.ts'
import { openPages } from '../../src/compose.ts'
import { askPostgres } from '../support/servers/postgres.ts'
import { freshPlace } from '../support/servers/shared.ts'
import { eventually } from '../support/servers/wait.ts'
import { skipTest } from '../support/skip.ts'
import { site, type Answer } from '../actions/site.ts'
import type { Caller, Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const JOBS = '/api/v1/jobs'
const html = { 'content-type': 'text/html; charset=utf-8' }

const pages: Readonly<Record<string, string>> = {
  '/': '<title>Bells</title><p>A carillon of bells <a href="/tower">t</a> <a href="/loop/1">l</a>',
  '/tower':
    '<title>Tower</title><p>Größe of the tower: 84 m <a href="/">up</a> <a href="/broken">x',
  '/loop/1': '<p>round <a href="/loop/1?again">and round</a> <a href="/secret">s</a>',
  '/loop/1?again': '<p>round <a href="/loop/1">and round</a>',
  '/secret': '<p>bells nobody may read',
}

const answer: Answer = ({ path }, response) => {
  if (path === '/robots.txt') {
    return response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end('User-agent: *\nDisallow: /secret\n')
  }
  const text = pages[path]
  return response.writeHead(text === undefined ? 500 : 200, html).end(text ?? 'broken')
}

/** Where pages are kept beside this store: with those of other nodes, or in a file. */
async function sinkBeside(store: string): Promise<{ open: () => Promise<PageSink> }> {
  if (store !== 'postgres') {
    const pagesInMemory = await openPages(':memory:')
    onTestFinished(() => pagesInMemory.close())
    return { open: async () => pagesInMemory }
  }
  const place = await freshPlace('postgres')
  if ('missing' in place) skipTest(place.missing)
  onTestFinished(async () => {
    await askPostgres(place.url, `drop schema if exists "${place.name}_pages" cascade`)
  })
  const open = async () => {
    const sink = await openPages(place.url)
    onTestFinished(() => sink.close())
    return sink
  }
  return { open }
}

async function found(caller: Caller, q: string): Promise<Wire[]> {
  const { status, body } = await caller.get(`/api/v1/search?q=${encodeURIComponent(q)}`)
  expect(status).toBe(200)
  return body['pages'] as Wire[]
}

const paths = (hits: readonly Wire[], origin: string) =>
  hits.map(hit => String(hit['url']).slice(origin.length)).toSorted()

onEachStore((store, start) => {
  describe(`crawl jobs on ${store}`, () => {
    it('B12 B20 a site is crawled by its rules, and its words are found', async () => {
      const web = await site(answer)
      const { open } = await sinkBeside(store)
      const s = await start({ pages: await open(), allowHosts: [`127.0.0.1:${web.port}`] })
      const made = await s.as().post(JOBS, {
        action: { kind: 'crawl', url: `${web.origin}/`, source: 'bells', depth: 3, delay_ms: 0 },
      })
      expect(made.status).toBe(201)
      const execution = await eventually('the crawl ends', async () => {
        await s.advance('1s')
        const { body } = await s.as().get(`${JOBS}/${made.body.id}/executions`)
        return body.executions.find(one => one.status !== 'running')
      })
      expect(execution).toMatchObject({ status: 'completed', items_crawled: 4, items_indexed: 4 })
      expect(web.asked.map(({ path }) => path)).not.toContain('/secret')

      const viewer = s.as('viewer')
      expect(paths(await found(viewer, 'bells'), web.origin)).toEqual(['/'])
      const [tower] = await found(viewer, 'große TOWER')
      expect(tower).toMatchObject({ title: 'Tower', source: 'bells', job_id: made.body.id })
      expect(String(tower!['snippet'])).toContain('84 m')
      expect(await found(viewer, 'nobody')).toEqual([])
      expect(await found(s.as('admin', 'globex'), 'bells')).toEqual([])
    })

    it.each(['job', 'run'])('H5 B4 a cancelled %s says what was crawled', async what => {
      // The third page is never answered.
      const web = await site(({ path }, response) => {
        if (path === '/3') return
        const next = path === '/1' ? '/2' : '/3'
        const isPage = path === '/1' || path === '/2'
        response.writeHead(isPage ? 200 : 404, html)
        response.end(`<title>${path}</title><p>page ${path} <a href="${next}">next</a>`)
      })
      const { open } = await sinkBeside(store)
      const s = await start({ pages: await open(), allowHosts: [`127.0.0.1:${web.port}`] })
      const { body: job } = await s.as().post(JOBS, {
        action: { kind: 'crawl', url: `${web.origin}/1`, depth: 3, delay_ms: 0 },
      })
      const executions = `${JOBS}/${job.id}/executions`
      await eventually('the third page is asked for', async () => {
        await s.advance('100ms')
        return web.asked.find(({ path }) => path === '/3')
      })
      const live = (await s.as().get(executions)).body.executions[0]!
      expect(live['status']).toBe('running')
      const target = what === 'job' ? `${JOBS}/${job.id}` : `/api/v1/runs/${live['run_id']}`
      expect((await s.as().post(`${target}/cancel`, {})).status).toBe(200)
      const execution = await eventually('the crawl returned', async () => {
        await s.advance('100ms')
        const { body } = await s.as().get(executions)
        return body.executions.find(one => Number(one.items_crawled) > 0)
      })
      expect(execution).toMatchObject({
        id: live['id'],
        status: 'cancelled',
        items_crawled: 2,
        items_indexed: 2,
      })
    })
  })
})
