// Option objects of callers: every member that is unknown, missing or of the wrong kind is one problem,
// with the name it may have been meant to be.

import { refuse, type ErrorCode } from '../errors.ts'
import { Findings } from '../findings.ts'
import { toJson } from '../json/json-copy.ts'
import { limits } from '../limits.ts'
import { didYouMean } from './suggest.ts'

export type Check = (found: Findings, field: string, value: unknown) => void

/** A check for every member; the compiler asks for those of new members. */
export type Checks<T> = { readonly [K in keyof T]-?: Check }

/** What must be there. */
export interface Requirements {
  readonly required?: readonly string[]
}

/** Adds the problems of `given`, whose members are named `field.member`. */
export function checkOptions(
  found: Findings,
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  { field = '', required = [] }: Requirements & { readonly field?: string } = {},
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    found.add(field === '' ? 'options' : field, given, 'an object')
    return
  }
  const prefix = field === '' ? '' : `${field}.`
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const check = Object.hasOwn(checks, name) ? checks[name]! : null
    if (check) check(found, `${prefix}${name}`, value)
    else found.problems.push(unknownOption(`${prefix}${name}`, name, value, Object.keys(checks)))
  }
  for (const name of required) {
    if ((given as Record<string, unknown>)[name] !== undefined) continue
    const missing = new Findings()
    checks[name]!(missing, name, undefined)
    const rule = ['is required', ...missing.problems.slice(0, 1).map(one => one.rule)].join(' and ')
    found.problems.push({ field: `${prefix}${name}`, value: undefined, rule })
  }
}

/** Throws one error that names every problem of the options at once. */
export function refuseOptions(
  what: string,
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  more: Requirements & { readonly code?: ErrorCode } = {},
): void {
  const found = new Findings()
  checkOptions(found, given, checks, more)
  refuse(more.code ?? 'SPEC_INVALID', what, found.problems)
}

function unknownOption(field: string, name: string, value: unknown, known: readonly string[]) {
  const hint = didYouMean(name, known) ?? `known are ${known.join(', ')}`
  return { field, value, rule: `is not an option; ${hint}`, isName: true } as const
}

export const anything: Check = () => {}

export const isText: Check = (found, field, value) => found.text(field, value, limits.nameLength)

/** A key may have any length and any characters: it is encoded or hashed. */
export const isKey: Check = (found, field, value) => {
  if (typeof value !== 'string' || value === '') found.add(field, value, 'a text that is not empty')
}

/** A label for people: may be empty. */
export const isLabel: Check = (found, field, value) => {
  if (typeof value !== 'string') found.add(field, value, 'a text')
}

export const isFunction: Check = (found, field, value) => {
  if (typeof value !== 'function') found.add(field, value, 'a function')
}

export const isFlag: Check = (found, field, value) => {
  if (typeof value !== 'boolean') found.add(field, value, 'true or false')
}

export const isPayload: Check = (found, field, value) => {
  toJson(value, field, found.problems)
}

export const isTags: Check = (found, field, value) => {
  if (!Array.isArray(value)) found.add(field, value, 'a list of texts')
  else for (const tag of value) found.text(field, tag, limits.nameLength)
}

export function isWhole(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  return (found, field, value) => found.whole(field, value, min, max)
}

export function isOneOf(...allowed: readonly string[]): Check {
  return (found, field, value) => found.oneOf(field, value, allowed)
}

/** A list of these names: one that is none of them is misspelt, and would match nothing. */
export function isListOf<T extends string>(names: Readonly<Record<T, true>>): Check {
  const allowed: readonly string[] = Object.keys(names)
  return (found, field, value) => {
    if (!Array.isArray(value)) {
      found.add(field, value, `a list of ${allowed.join(', ')}`)
      return
    }
    for (const [i, name] of value.entries()) {
      if (allowed.includes(name as string)) continue
      const hint = typeof name === 'string' ? didYouMean(name, allowed) : null
      found.add(`${field}.${i}`, name, `one of ${allowed.join(', ')}${hint ? `; ${hint}` : ''}`)
    }
  }
}

export const isTexts: Check = (found, field, value) => {
  const fits = Array.isArray(value) && value.every(text => typeof text === 'string')
  if (!fits) found.add(field, value, 'a list of texts')
}

/** A moment as stores count it. */
export const isEpoch: Check = (found, field, value) => found.instant(field, value)

/** Throws unless it is the id or the name of something: what is left out names nothing. */
export function refuseId(what: string, id: unknown): void {
  const found = new Findings()
  isKey(found, what, id)
  refuse('QUERY_INVALID', 'the call is not valid', found.problems)
}

/** An object of its own with these members. */
export function isObject(
  checks: Readonly<Record<string, Check>>,
  requirements: Requirements = {},
): Check {
  return (found, field, value) => checkOptions(found, value, checks, { field, ...requirements })
}

/** An object whose members have names of the caller's choice. */
export function isRecordOf(check: Check): Check {
  return (found, field, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      found.add(field, value, 'an object')
      return
    }
    for (const [name, member] of Object.entries(value)) check(found, `${field}.${name}`, member)
  }
}

export function isNullOr(check: Check): Check {
  return (found, field, value) => {
    if (value !== null) check(found, field, value)
  }
}
