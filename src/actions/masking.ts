// Takes secrets out of what a receiver sends back, however it spells them.

import { MASK } from './action.ts'
import { SECRET_LENGTH_MIN } from './secrets.ts'

/** So much of a secret may stand at the end of an answer that was cut. */
const CUT_LENGTH_MIN = 3

export class Masking {
  readonly #spellings: readonly string[]

  constructor(secrets: Iterable<string>) {
    const all = new Set([...secrets].flatMap(spellingsOf))
    this.#spellings = [...all]
      .filter(text => text.length >= SECRET_LENGTH_MIN)
      .toSorted((a, b) => b.length - a.length)
  }

  masked(text: string): string {
    return this.#spellings.reduce((clean, secret) => clean.replaceAll(secret, MASK), text)
  }

  /** Of a text that goes on: a secret may have been cut in two. */
  maskedCut(text: string): string {
    const clean = this.masked(text.replace(/\uFFFD+$/, ''))
    const begun = Math.max(0, ...this.#spellings.map(secret => begunAt(clean, secret)))
    return begun === 0 ? clean : `${clean.slice(0, -begun)}${MASK}`
  }
}

/** How many characters at the end of the text are the beginning of the secret. */
function begunAt(text: string, secret: string): number {
  for (let length = secret.length - 1; length >= CUT_LENGTH_MIN; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}

/** As it is, inside JSON, inside JSON in JSON, in a URL, in a form and in HTML. */
function spellingsOf(secret: string): string[] {
  const json = inJson(secret)
  const plain = [secret, json, inJson(json)]
  const slashed = plain.map(text => text.replaceAll('/', '\\/'))
  return [...plain, ...slashed, ...plain.map(ascii), ...inUrls(secret), inHtml(secret)]
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function ascii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, char => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function inUrls(secret: string): string[] {
  const encoded = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD'))
  const strict = encoded.replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
  const upper = strict.replace(/%[0-9a-f]{2}/gi, code => code.toUpperCase())
  const spaced = [encoded, upper].flatMap(text => [text, text.replaceAll('%20', '+')])
  const lower = spaced.map(text => text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()))
  return [...spaced, ...lower]
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function inHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => entities[char]!)
}
