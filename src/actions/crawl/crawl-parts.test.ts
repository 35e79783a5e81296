// The parts of a crawl by themselves: what is taken from a page, what is fetched next, search.

import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../runtime/clock.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Steps } from '../slices.ts'
import { openDatabase } from '../../store/sql/sqlite/driver.ts'
import { decodePage, extractHtml, robotsWords } from './extract.ts'
import { Frontier, isTrap } from './frontier.ts'
import { crawlSettings, type CrawlSettings } from './settings.ts'
import { SqlitePages } from './sqlite-pages.ts'

/** A computation without the pauses between its steps. */
function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Turns of the event loop that pass while something is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) systemClock.soon(count)
  }
  systemClock.soon(count)
  await work()
  isOver = true
  return turns
}

const read = (html: string) => whole(extractHtml(html))

describe('a page gives its title, text and links', () => {
  it('leaves out what is not read by people', () => {
    const page = read(`<!doctype html><html><head><title> A &amp; B </title>
      <style>p{color:red}</style><script>var x = "<a href='/no'>"</script></head>
      <body><h1>Head</h1><p>one <b>two</b>three</p><script>alert(1)</script>
      <a href="/a">A</a><a rel="nofollow noopener" href="/b">B</a><a name=x>none</a></body>`)
    expect(page).toMatchObject({
      title: 'A & B',
      text: 'Head one twothree A B none',
      links: ['/a'],
      mayIndex: true,
      mayFollow: true,
    })
  })

  it('broken markup is read as far as it goes', () => {
    const page = read('<p>one<div><a href="/a">two<p>three</b></i><a href=/b>four')
    expect([page.text, page.links]).toEqual(['one two three four', ['/a', '/b']])
  })

  it('text after an unclosed head, in a drawing, and beyond the depth that is read', () => {
    expect(read('<head><title>T</title><style>x</style><p>body')).toMatchObject({
      title: 'T',
      text: 'body',
    })
    expect(read('<div><svg><title>no</title><g>no</div>yes<svg/>also').text).toBe('yes also')
    expect(read('<object><object>no</object>no</object>yes').text).toBe('yes')
    const deep = read(`${'<font>'.repeat(2_000)}here<svg>no</svg>${'</font>'.repeat(2_000)}there`)
    expect(deep.text).toBe('here there')
  })

  it('links and bases that are longer than any URL are left out', () => {
    const long = 'x'.repeat(3_000)
    const page = read(`<base href="/${long}"><a href="/${long}">a</a><a href="/&amp;b" HREF=c>`)
    expect(page).toMatchObject({ base: null, links: ['/&b'] })
  })

  it.each([
    ['noindex', false, true],
    ['NOFOLLOW', true, false],
    ['none', false, false],
    ['index, follow', true, true],
    ['noindex,nofollow', false, false],
  ])('robots %s', (content, mayIndex, mayFollow) => {
    expect(robotsWords(content)).toEqual({ mayIndex, mayFollow })
    expect(read(`<meta name=Robots content="${content}">`)).toMatchObject({
      mayIndex,
      mayFollow,
    })
  })

  it.each([
    ['text/html; charset=iso-8859-1', Buffer.from('caf\u00e9', 'latin1')],
    ['text/html', Buffer.from('<meta charset="latin1">caf\u00e9', 'latin1')],
    ['text/html; charset=utf-8', Buffer.from('café')],
    ['text/html; charset=no-such-thing', Buffer.from('café')],
  ])('is decoded as %s says', (type, bytes) => {
    expect(decodePage(bytes, type)).toContain('café')
  })
})

describe('the frontier', () => {
  const frontier = (given: Partial<CrawlSettings> = {}) =>
    new Frontier(
      crawlSettings.parse({ kind: 'crawl', url: 'https://example.com/', depth: 2, ...given }),
    )
  const offers = (target: Frontier, urls: readonly string[], depth = 1) =>
    urls.map(url => target.offer(new URL(url), depth))

  it('takes each URL once, whatever its fragment', () => {
    const urls = ['https://example.com/a', 'https://example.com/a#x', 'https://EXAMPLE.com:443/a']
    expect(offers(frontier(), urls)).toEqual([true, false, false])
  })

  it('stays on its host, with or without www, and on its port', () => {
    const urls = [
      'http://example.com/',
      'https://www.example.com/b',
      'https://example.com:8443/',
      'https://a.example.com/',
      'https://example.com.evil.test/',
      'https://notexample.com/',
      'ftp://example.com/',
      'mailto:someone@example.com',
      'https://user:pw@example.com/c',
    ]
    expect(offers(frontier(), urls)).toEqual([true, true, ...Array<boolean>(7).fill(false)])
    expect(offers(frontier({ hosts: 'subdomains' }), urls)[3]).toBe(true)
  })

  it('keeps to its depth and its number of pages', () => {
    const small = frontier({ pages: 2 })
    expect(offers(small, ['https://example.com/deep'], 3)).toEqual([false])
    expect(small.isFull).toBe(false)
    const urls = [1, 2, 3].map(n => `https://example.com/${n}`)
    expect(offers(small, urls)).toEqual([true, true, false])
    expect(small.isFull).toBe(true)
  })

  it('does not follow a path that nests itself or a query without end', () => {
    expect(isTrap(new URL('https://example.com/a/b/a/b/a/b/a/b'))).toBe(true)
    expect(isTrap(new URL(`https://example.com/${'x/'.repeat(3)}`))).toBe(false)
    expect(isTrap(new URL(`https://example.com/?${'x'.repeat(2_048)}`))).toBe(true)
    const many = Array.from({ length: 200 }, (_, i) => `https://example.com/calendar?day=${i}`)
    expect(offers(frontier({ pages: 1_000 }), many).filter(Boolean)).toHaveLength(50)
  })

  it('can be written down and taken up again', () => {
    const before = frontier({ pages: 5_000 })
    const urls = Array.from({ length: 4_000 }, (_, i) => `https://example.com/articles/2026/${i}`)
    offers(before, urls)
    for (let i = 0; i < 2_000; i++) before.next()
    const saved = JSON.parse(JSON.stringify(before.snapshot())) as JsonObject
    expect(JSON.stringify(saved).length).toBeLessThan(64 * 1024)
    const after = frontier({ pages: 5_000 })
    expect(after.restore(saved)).toBe(true)
    expect(after.waiting).toBe(2_000)
    expect(after.next()).toEqual({ url: urls[2_000], depth: 1 })
    expect(offers(after, urls).includes(true)).toBe(false)
  })

  it('S4: is not written down while more than 1 Mi characters of URLs wait', () => {
    const full = frontier({ pages: 1_000 })
    const long = (i: number) => `https://example.com/${i}/${'x'.repeat(1_900)}`
    offers(
      full,
      Array.from({ length: 600 }, (_, i) => long(i)),
    )
    expect(full.waiting).toBe(600)
    expect(full.snapshot()).toBeNull()
    for (let i = 0; i < 100; i++) full.next()
    expect(full.snapshot()).not.toBeNull()
  })

  it('takes up nothing of another start, and nothing broken', () => {
    const saved = frontier().snapshot()!
    expect(frontier({ url: 'https://other.test/' }).restore(saved)).toBe(false)
    expect(frontier().restore({ ...saved, waiting: 'AAAA!' })).toBe(false)
    expect(frontier().restore({})).toBe(false)
  })
})

describe('pages in SQLite (B12, B20)', () => {
  const opened = () => {
    const pages = SqlitePages.open({ path: ':memory:', open: openDatabase })
    onTestFinished(() => pages.close())
    const put = (url: string, text: string, more: object = {}) =>
      pages.put({
        tenant: 'acme',
        jobId: 'job',
        runId: 'job.1',
        source: 'news',
        url,
        title: `title of ${url}`,
        text,
        fetchedAt: 1_000,
        ...more,
      })
    const found = async (text: string, more: object = {}) => {
      const query = { tenant: 'acme', text, limit: 10, offset: 0, ...more }
      return (await pages.search(query)).items.map(({ url }) => url)
    }
    return { pages, put, found }
  }

  it('finds by all words, without regard to case or accents, title first', async () => {
    const { put, found } = opened()
    await put('/1', 'The quick brown fox in a Café')
    await put('/2', 'A slow brown bear')
    await put('/3', 'nothing here', { title: 'Brown' })
    expect(await found('cafe QUICK')).toEqual(['/1'])
    expect((await found('brown'))[0]).toBe('/3')
    expect(await found('brown', { limit: 2 })).toHaveLength(2)
  })

  it('keeps the newest text of a page and nobody else sees it', async () => {
    const { put, found, pages } = opened()
    await put('/1', 'before')
    await put('/1', 'after')
    expect([await found('before'), await found('after')]).toEqual([[], ['/1']])
    expect(await found('after', { tenant: 'other' })).toEqual([])
    expect(await found('after', { source: 'blog' })).toEqual([])
    expect(await pages.search({ tenant: 'acme', text: 'after', limit: 1, offset: 1 })).toEqual({
      items: [],
      total: 1,
    })
  })

  it.each([
    '"',
    'a" OR tenant:*',
    "' OR 1=1--",
    'NEAR(',
    '*',
    'title:x',
    '( AND )',
    '\u0000',
    '😀',
  ])('the query %j is words, not a language', async text => {
    const { put, found } = opened()
    await put('/1', 'plain text')
    expect(await found(text)).toEqual([])
  })

  it('forgets what is gone, what a complete crawl no longer found, and removed jobs', async () => {
    const { put, found, pages } = opened()
    await put('/1', 'word')
    await put('/2', 'word', { fetchedAt: 2_000 })
    await put('/3', 'word', { fetchedAt: 2_000 })
    await put('/4', 'word', { jobId: 'other', fetchedAt: 1 })
    await pages.drop({ tenant: 'acme', jobId: 'job', url: '/3' })
    expect(await pages.retire({ tenant: 'acme', jobId: 'job', before: 2_000 })).toBe(1)
    expect(await found('word')).toEqual(['/2', '/4'])
    await pages.remove([{ tenant: 'acme', jobId: 'job' }])
    expect(await found('word')).toEqual(['/4'])
  })
})

describe('S4: what a page costs in one turn of the event loop', () => {
  const STEP_LENGTH = 8_192
  const worst: Readonly<Record<string, string>> = {
    open: '<b>'.repeat(664_000),
    pairs: '<b>'.repeat(150_000) + '</i>'.repeat(150_000),
    attributes: `<a ${Array.from({ length: 200_000 }, (_, i) => `a${i} `).join('')}>`,
    value: `<a href="${'x'.repeat(1_900_000)}">`,
    comment: `<!--${'-'.repeat(1_900_000)}`,
    entities: '&amp;'.repeat(400_000),
    links: '<a href=/y>y</a>'.repeat(100_000),
  }

  it.each(Object.keys(worst))('%s: reads at most 8,192 characters between two yields', name => {
    const html = worst[name]!
    const steps = extractHtml(html)
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBe(Math.ceil(html.length / STEP_LENGTH))
  })

  it('pages of many words are written and removed one in a turn', async () => {
    const pages = SqlitePages.open({ path: ':memory:', open: openDatabase })
    onTestFinished(() => pages.close())
    // 50,000 different words: no machine writes two of these in 8 ms. The first turn and the last
    // may not be counted.
    const words = Array.from({ length: 50_000 }, (_, i) => (i + 46_656).toString(36)).join(' ')
    const page = (url: string, fetchedAt: number) => {
      const about = { tenant: 't', jobId: 'j', runId: 'r', source: 's', title: '' }
      return { ...about, url, text: words, fetchedAt }
    }
    const urls = Array.from({ length: 10 }, (_, i) => `https://example.com/${i}`)
    const written = await turnsOf(() => Promise.all(urls.map(url => pages.put(page(url, 1)))))
    expect(written).toBeGreaterThanOrEqual(urls.length - 2)
    await pages.put(page(urls[0]!, 5))
    let retired = 0
    const crawl = { tenant: 't', jobId: 'j', before: 2 }
    const turns = await turnsOf(async () => (retired = await pages.retire(crawl)))
    expect(retired).toBe(9)
    expect(turns).toBeGreaterThanOrEqual(7)
    const query = { tenant: 't', text: '1000', limit: 10, offset: 0 }
    expect((await pages.search(query)).items.map(({ url }) => url)).toEqual([urls[0]])
  })
})
