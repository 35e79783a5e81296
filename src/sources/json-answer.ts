// Answers as JSON: parsed in steps, of bounded depth, and with every digit of their numbers.

import type { Steps } from '../actions/slices.ts'
import { endOfString } from '../core/json/json-text.ts'

export const DEPTH_MAX = 512
/** Lists and objects in one answer: they take much more memory than text. */
export const CONTAINERS_MAX = 500_000
/** Names in one object: listing and sorting them is one step. */
export const NAMES_MAX = 50_000
/** Values read between two steps. */
const VALUES_PER_STEP = 500

/** Too deep or too large; what it says may be shown. Text that is no JSON is a SyntaxError. */
export class AnswerTooComplex extends Error {
  override readonly name = 'AnswerTooComplex'
}

/** A number that would lose digits as a number of JavaScript: an integer beyond 2^53, 1e400. */
export class ExactNumber {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

export function* parseAnswer(text: string): Steps<unknown> {
  const reader = new Reader(text)
  while (!reader.advance(VALUES_PER_STEP)) yield
  return reader.value
}

type Container =
  | { readonly kind: 'list'; readonly value: unknown[] }
  | { readonly kind: 'object'; readonly value: Record<string, unknown>; key: string; names: number }

const blank = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
// oxlint-disable-next-line no-control-regex -- they are not allowed in strings of JSON
const special = /[\\\u0000-\u001f]/

class Reader {
  readonly #text: string
  readonly #open: Container[] = []
  #at = 0
  #containers = 0
  #isDone = false
  value: unknown

  constructor(text: string) {
    this.#text = text
    this.#skip()
  }

  /** Reads so many values; says whether that was all. */
  advance(values: number): boolean {
    for (let i = 0; i < values && !this.#isDone; i++) this.#read()
    return this.#isDone
  }

  /** One value, or what opens one. */
  #read(): void {
    const char = this.#text[this.#at]
    if (char === '"') return this.#put(this.#string())
    if (char !== '[' && char !== '{') return this.#put(this.#scalar())
    if (this.#open.length >= DEPTH_MAX) throw tooComplex(`is nested deeper than ${DEPTH_MAX}`)
    if (++this.#containers > CONTAINERS_MAX) {
      throw tooComplex(`has more than ${CONTAINERS_MAX} lists and objects`)
    }
    this.#at++
    this.#skip()
    const isList = char === '['
    this.#open.push(
      isList ? { kind: 'list', value: [] } : { kind: 'object', value: {}, key: '', names: 0 },
    )
    if (this.#text[this.#at] === (isList ? ']' : '}')) this.#close()
    else if (!isList) this.#key()
  }

  /** What was read goes where it belongs; what it completes is closed. */
  #put(value: unknown): void {
    this.#skip()
    const container = this.#open.at(-1)
    if (container === undefined) return this.#end(value)
    if (container.kind === 'list') container.value.push(value)
    else assign(container.value, container.key, value)
    const char = this.#text[this.#at]
    if (char === ',') {
      this.#at++
      this.#skip()
      if (container.kind === 'object') this.#key()
    } else if (char === (container.kind === 'list' ? ']' : '}')) this.#close()
    else throw new SyntaxError(`a comma or an end is missing at ${this.#at}`)
  }

  #close(): void {
    this.#at++
    this.#put(this.#open.pop()!.value)
  }

  #end(value: unknown): void {
    if (this.#at < this.#text.length) throw new SyntaxError(`more follows at ${this.#at}`)
    this.value = value
    this.#isDone = true
  }

  #key(): void {
    if (this.#text[this.#at] !== '"') throw new SyntaxError(`a name is missing at ${this.#at}`)
    const container = this.#open.at(-1)
    if (container?.kind === 'object') {
      if (++container.names > NAMES_MAX) {
        throw tooComplex(`has an object with more than ${NAMES_MAX} names`)
      }
      container.key = this.#string()
    }
    this.#skip()
    if (this.#text[this.#at] !== ':') throw new SyntaxError(`a colon is missing at ${this.#at}`)
    this.#at++
    this.#skip()
  }

  #string(): string {
    const from = this.#at
    const end = endOfString(this.#text, from)
    if (end === null) throw new SyntaxError(`a text without end at ${from}`)
    this.#at = end + 1
    const inside = this.#text.slice(from + 1, end)
    return special.test(inside) ? (JSON.parse(this.#text.slice(from, end + 1)) as string) : inside
  }

  #scalar(): unknown {
    scalar.lastIndex = this.#at
    const text = scalar.exec(this.#text)?.[0]
    if (text === undefined) throw new SyntaxError(`no value at ${this.#at}`)
    this.#at += text.length
    if (text === 'null') return null
    if (text === 'true' || text === 'false') return text === 'true'
    return numberOf(text)
  }

  #skip(): void {
    blank.lastIndex = this.#at
    blank.exec(this.#text)
    this.#at = blank.lastIndex
  }
}

/** As JSON.parse does: a name is only ever a name. */
function assign(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else {
    const how = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, how)
  }
}

/** So many digits always survive. */
const DIGITS_SAFE = 15
/** Longer ones are kept as they are written. */
const NUMBER_MAX = 400

function numberOf(text: string): number | ExactNumber {
  if (text.length > NUMBER_MAX) return new ExactNumber(text)
  const number = Number(text)
  if (text.length <= DIGITS_SAFE && !/e/i.test(text)) return number
  return decimalOf(text) === decimalOf(String(number)) ? number : new ExactNumber(text)
}

/** Equal for equal decimal numbers, however they are written. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return text.includes('I') ? text : '0'
  return `${sign}${kept}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length)}`
}

function tooComplex(what: string): AnswerTooComplex {
  return new AnswerTooComplex(`an answer that ${what}`)
}
