// What is taken from a page: its title, its text, its links, and what it asks of robots.

import { Parser } from 'htmlparser2'

export interface Extract {
  readonly title: string
  readonly text: string
  /** As written, in order; relative to `base`. */
  readonly links: readonly string[]
  readonly base: string | null
  readonly mayIndex: boolean
  readonly mayFollow: boolean
}

const TITLE_MAX = 500
const TEXT_MAX = 200_000
const LINKS_MAX = 2_000

const silent: ReadonlySet<string> = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'head',
])
/** Words on both sides of these belong apart. */
const inline = /^(?:abbr|b|bdi|bdo|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr)$/

export function extractHtml(html: string): Extract {
  const page = new PageReader()
  const parser = new Parser(page, { decodeEntities: true, lowerCaseTags: true })
  parser.end(html)
  return page.extract()
}

export function extractText(text: string): Extract {
  const clean = collapsed(text).slice(0, TEXT_MAX)
  return { title: '', text: clean, links: [], base: null, mayIndex: true, mayFollow: true }
}

/** `noindex, nofollow` of a meta tag or of the X-Robots-Tag header. */
export function robotsWords(content: string): { mayIndex: boolean; mayFollow: boolean } {
  const words = content.toLowerCase().split(/[\s,]+/)
  const isNone = words.includes('none')
  return {
    mayIndex: !isNone && !words.includes('noindex'),
    mayFollow: !isNone && !words.includes('nofollow'),
  }
}

class PageReader {
  readonly #text: string[] = []
  readonly #links: string[] = []
  #title = ''
  #textLength = 0
  #silentDepth = 0
  #isTitle = false
  #base: string | null = null
  #mayIndex = true
  #mayFollow = true

  onopentag(name: string, attributes: Record<string, string>): void {
    if (silent.has(name)) this.#silentDepth++
    if (name === 'title') this.#isTitle = this.#title === ''
    else if (name === 'a' || name === 'area') this.#link(attributes)
    else if (name === 'base') this.#base ??= attributes.href ?? null
    else if (name === 'meta') this.#meta(attributes)
    if (!inline.test(name)) this.#add(' ')
  }

  ontext(text: string): void {
    if (this.#isTitle) this.#title += text.slice(0, TITLE_MAX)
    else if (this.#silentDepth === 0) this.#add(text)
  }

  onclosetag(name: string): void {
    if (silent.has(name)) this.#silentDepth = Math.max(0, this.#silentDepth - 1)
    if (name === 'title') this.#isTitle = false
    if (!inline.test(name)) this.#add(' ')
  }

  #add(text: string): void {
    if (this.#textLength >= TEXT_MAX * 2) return
    this.#text.push(text)
    this.#textLength += text.length
  }

  #link({ href, rel = '' }: Record<string, string>): void {
    if (href === undefined || this.#links.length >= LINKS_MAX) return
    if (!rel.toLowerCase().split(/\s+/).includes('nofollow')) this.#links.push(href)
  }

  #meta({ name = '', content = '' }: Record<string, string>): void {
    if (name.toLowerCase() !== 'robots') return
    const { mayIndex, mayFollow } = robotsWords(content)
    this.#mayIndex &&= mayIndex
    this.#mayFollow &&= mayFollow
  }

  extract(): Extract {
    return {
      title: collapsed(this.#title).slice(0, TITLE_MAX),
      text: collapsed(this.#text.join('')).slice(0, TEXT_MAX),
      links: this.#links,
      base: this.#base,
      mayIndex: this.#mayIndex,
      mayFollow: this.#mayFollow,
    }
  }
}

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** By the header, else by the page's own word, else UTF-8. */
export function decodePage(bytes: Buffer, contentType: string): string {
  const named =
    /charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1] ??
    /<meta[^>]+charset\s*=\s*["']?([\w:.-]+)/i.exec(
      bytes.subarray(0, 1_024).toString('latin1'),
    )?.[1]
  try {
    return new TextDecoder(named ?? 'utf-8').decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
