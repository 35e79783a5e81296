// Whether a value has the shape a schema of the document says: the keywords used there, no others.

import { resolved, type Schema, type Schemas, type Type } from './document.ts'

const known = new Set(
  [
    ['$ref', 'type', 'properties', 'required', 'additionalProperties', 'propertyNames', 'items'],
    ['minItems', 'maxItems', 'anyOf', 'enum', 'const', 'minimum', 'maximum', 'minLength'],
    ['maxLength', 'pattern', 'format', 'default', 'description', 'readOnly'],
  ].flat(),
)

type Fields = Readonly<Record<string, unknown>>

export class Shapes {
  readonly #schemas: Schemas
  readonly #patterns = new Map<string, RegExp>()
  readonly #seen = new WeakSet<Schema>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** What is wrong, each with its path; nothing when all is well. */
  problems(given: Schema, value: unknown, path = '$'): string[] {
    const { schema } = resolved(given, this.#schemas)
    this.#assertKnown(schema)
    if (schema.anyOf !== undefined) {
      const tries = schema.anyOf.map(one => this.problems(one, value, path))
      if (!tries.some(found => found.length === 0)) return [`${path} fits none of its forms`]
    }
    if (schema.const !== undefined && value !== schema.const) return [`${path} is another constant`]
    if (schema.enum && !schema.enum.includes(value as string))
      return [`${path} is none of its enum`]
    const types = schema.type === undefined ? [] : [schema.type].flat()
    if (types.length > 0 && !types.some(type => hasType(type, value))) {
      return [`${path} is not of type ${types.join(' or ')}`]
    }
    if (typeof value === 'string') return this.#text(schema, value, path)
    if (typeof value === 'number') return numberProblems(schema, value, path)
    if (Array.isArray(value)) return this.#list(schema, value, path)
    if (typeof value === 'object' && value !== null) {
      return this.#object(schema, value as Fields, path)
    }
    return []
  }

  #assertKnown(schema: Schema): void {
    if (this.#seen.has(schema)) return
    for (const key of Object.keys(schema)) {
      if (!known.has(key)) throw new Error(`the fuzz does not know the keyword ${key}`)
    }
    this.#seen.add(schema)
  }

  #text({ pattern, minLength = 0, maxLength = Infinity }: Schema, value: string, path: string) {
    if (value.length < minLength || value.length > maxLength) return [`${path} has a wrong length`]
    if (pattern === undefined) return []
    const held = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u')
    this.#patterns.set(pattern, held)
    return held.test(value) ? [] : [`${path} does not match ${pattern}`]
  }

  #list(schema: Schema, value: readonly unknown[], path: string): string[] {
    const { items, minItems = 0, maxItems = Infinity } = schema
    if (value.length < minItems || value.length > maxItems) return [`${path} has a wrong length`]
    return items ? value.flatMap((one, i) => this.problems(items, one, `${path}[${i}]`)) : []
  }

  #object(schema: Schema, value: Fields, path: string): string[] {
    const { properties = {}, required = [], additionalProperties: more = true } = schema
    const missing = required.filter(key => !Object.hasOwn(value, key))
    const found = missing.map(key => `${path}.${key} is missing`)
    for (const [key, one] of Object.entries(value)) {
      const at = `${path}.${key}`
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined
      if (own) found.push(...this.problems(own, one, at))
      else if (more === false) found.push(`${at} is not declared`)
      else if (more !== true) found.push(...this.problems(more, one, at))
    }
    return found
  }
}

function hasType(type: Type, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
  }
}

function numberProblems(schema: Schema, value: number, path: string): string[] {
  const { minimum = -Infinity, maximum = Infinity } = schema
  return value >= minimum && value <= maximum ? [] : [`${path} is out of its range`]
}
