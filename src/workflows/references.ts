// References in a step's input: `{"$from": "steps.fetch.items"}` stands for what is found there.
// Only plain data is walked, by own keys; nothing is evaluated.

import type { Json, JsonObject } from '../core/json.ts'

/** What references can reach: the event, and the outputs of steps that are over. */
export interface Scope {
  readonly event: Json
  readonly steps: Readonly<Record<string, Json>>
}

const FROM = '$from'
const LITERAL = '$literal'
const DEFAULT = 'default'

export interface Reference {
  /** Where in the input it stands. */
  readonly at: readonly string[]
  readonly path: readonly string[]
}

/** Every reference of an input, and what is wrong with those that are none. */
export function referencesIn(input: Json): { found: Reference[]; wrong: Wrong[] } {
  const found: Reference[] = []
  const wrong: Wrong[] = []
  walk(input, [], { found, wrong })
  return { found, wrong }
}

export interface Wrong {
  readonly at: readonly string[]
  readonly rule: string
}

function walk(value: Json, at: readonly string[], into: { found: Reference[]; wrong: Wrong[] }) {
  if (isList(value)) value.forEach((item, i) => walk(item, [...at, String(i)], into))
  if (!isObject(value) || has(value, LITERAL)) return
  if (!has(value, FROM)) {
    for (const [key, item] of Object.entries(value)) walk(item, [...at, key], into)
    return
  }
  const path = pathOf(value[FROM]!)
  if (path !== null) into.found.push({ at, path })
  else into.wrong.push({ at: [...at, FROM], rule: 'must be a path such as steps.fetch.items' })
  for (const key of Object.keys(value)) {
    if (key === FROM || key === DEFAULT) continue
    into.wrong.push({ at: [...at, key], rule: `must be absent beside ${FROM}` })
  }
}

/** The input with every reference replaced; throws where one leads nowhere. */
export function filled(value: Json, scope: Scope): Json {
  if (isList(value)) return value.map(item => filled(item, scope))
  if (!isObject(value)) return value
  if (has(value, LITERAL)) return value[LITERAL]!
  if (!has(value, FROM)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, filled(item, scope)] as const),
    )
  }
  const path = pathOf(value[FROM]!)
  const reached = path === null ? undefined : lookUp(path, scope)
  if (reached !== undefined) return reached
  if (has(value, DEFAULT)) return value[DEFAULT]!
  throw new Error(`its input asks for ${path?.join('.') ?? FROM}, and there is nothing`)
}

function lookUp(path: readonly string[], { event, steps }: Scope): Json | undefined {
  let at: Json | undefined = { event, steps }
  for (const key of path) {
    if (isList(at)) at = /^\d+$/.test(key) ? at[Number(key)] : undefined
    else at = isObject(at) && has(at, key) ? at[key] : undefined
    if (at === undefined) return undefined
  }
  return at
}

/** Dots separate keys; a list of keys is for those that hold dots themselves. */
function pathOf(given: Json): string[] | null {
  const keys = typeof given === 'string' ? given.split('.') : given
  if (!isList(keys) || keys.length === 0) return null
  const texts = keys.map(key => (typeof key === 'number' ? String(key) : key))
  return texts.every(text => typeof text === 'string' && text !== '') ? (texts as string[]) : null
}

function has(value: JsonObject, key: string): boolean {
  return Object.hasOwn(value, key)
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
