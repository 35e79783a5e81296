// What is taken from a page: its title, its text, its links, and what it asks of robots. The work
// grows with the length of the page alone, and is done in steps.

import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { URL_MAX } from '../guard/url.ts'
import type { Steps } from '../slices.ts'
import { OpenElements } from './open-elements.ts'

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
/** Of attributes that are read, whatever they hold. */
const VALUE_MAX = URL_MAX
/** Characters read between two steps: less than a millisecond. */
const STEP_LENGTH = 8_192

/** Words on both sides of these belong apart. */
const inline = /^(?:abbr|b|bdi|bdo|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr)$/
/** Elements with attributes that matter, and which. */
const attributesOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['a', new Set(['href', 'rel'])],
  ['area', new Set(['href', 'rel'])],
  ['base', new Set(['href'])],
  ['meta', new Set(['name', 'content'])],
])

export function* extractHtml(html: string): Steps<Extract> {
  const page = new PageReader(html)
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, page)
  for (let at = 0; at < html.length; at += STEP_LENGTH) {
    tokenizer.write(html.slice(at, at + STEP_LENGTH))
    yield
  }
  tokenizer.end()
  return page.extract()
}

export function extractText(text: string): Extract {
  const clean = collapsed(text.slice(0, TEXT_MAX * 2)).slice(0, TEXT_MAX)
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

/** Told of tags and texts by where they are in the page. */
class PageReader implements TokenizerCallbacks {
  readonly #html: string
  readonly #elements = new OpenElements()
  readonly #text: string[] = []
  readonly #links: string[] = []
  #title = ''
  #textLength = 0
  #isTitle = false
  #base: string | null = null
  #mayIndex = true
  #mayFollow = true
  /** The tag being read. */
  #tag = ''
  #wanted: ReadonlySet<string> | undefined
  #attributes = new Map<string, string>()
  #name: string | null = null
  #value = ''

  constructor(html: string) {
    this.#html = html
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase()
    this.#wanted = attributesOf.get(this.#tag)
    this.#attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    if (this.#wanted === undefined) return
    const name = end - start > 10 ? '' : this.#html.slice(start, end).toLowerCase()
    // The first of a name counts.
    this.#name = this.#wanted.has(name) && !this.#attributes.has(name) ? name : null
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.#name !== null)
      this.#grow(this.#html.slice(start, Math.min(end, start + VALUE_MAX + 1)))
  }

  onattribentity(codePoint: number): void {
    if (this.#name !== null) this.#grow(String.fromCodePoint(codePoint))
  }

  #grow(more: string): void {
    if (this.#value.length <= VALUE_MAX) this.#value += more
  }

  /** A longer value than any URL may be is as good as none. */
  onattribend(): void {
    if (this.#name !== null && this.#value.length <= VALUE_MAX) {
      this.#attributes.set(this.#name, this.#value)
    }
    this.#name = null
  }

  onopentagend(): void {
    const name = this.#tag
    if (name === 'title') this.#isTitle = this.#title === '' && !this.#elements.isSilent
    if (!inline.test(name)) this.#space()
    this.#elements.open(name)
    if (this.#wanted !== undefined) this.#read(name)
  }

  onselfclosingtag(): void {
    this.onopentagend()
    this.#elements.closeItself(this.#tag)
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase()
    this.#elements.close(name)
    if (name === 'title') this.#isTitle = false
    if (!inline.test(name)) this.#space()
  }

  ontext(start: number, end: number): void {
    this.#take(this.#html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.#take(String.fromCodePoint(codePoint))
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #take(text: string): void {
    if (this.#isTitle) {
      if (this.#title.length < TITLE_MAX) this.#title += text.slice(0, TITLE_MAX)
    } else if (!this.#elements.isSilent) this.#add(text)
  }

  #add(text: string): void {
    if (this.#textLength >= TEXT_MAX * 2) return
    this.#text.push(text)
    this.#textLength += text.length
  }

  #space(): void {
    if (!this.#elements.isSilent && this.#text.at(-1) !== ' ') this.#add(' ')
  }

  #read(name: string): void {
    const of = (attribute: string) => this.#attributes.get(attribute)
    const href = of('href')
    if (name === 'base') this.#base ??= href ?? null
    else if (name === 'meta') this.#meta(of('name') ?? '', of('content') ?? '')
    else if (href !== undefined && this.#links.length < LINKS_MAX) {
      const rel = of('rel') ?? ''
      if (!rel.toLowerCase().split(/\s+/).includes('nofollow')) this.#links.push(href)
    }
  }

  #meta(name: string, content: string): void {
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
