// The OpenAPI document as the fuzz reads it: operations, their parameters, bodies and answers.

import type { Json } from '../../../src/core/json.ts'

export type Type = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** The part of JSON Schema that the document uses; another keyword is refused, not passed over. */
export interface Schema {
  readonly $ref?: string
  readonly type?: Type | readonly Type[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly default?: Json
  readonly description?: string
  readonly readOnly?: boolean
}

export type Schemas = Readonly<Record<string, Schema>>
type Media = Readonly<Record<string, { readonly schema: Schema }>>

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: Schema
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | null
  /** Status or class of statuses → media type → shape; no media type at all for no body. */
  readonly answers: Readonly<Record<string, { readonly content?: Media }>>
}

export interface Document {
  readonly operations: readonly Operation[]
  readonly schemas: Schemas
}

interface Written {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly Parameter[]
            readonly requestBody?: { readonly content: Media }
            readonly responses: Operation['answers']
          }
        >
      >
    >
  >
  readonly components: { readonly schemas: Schemas }
}

export function readDocument(text: string): Document {
  const { paths, components } = JSON.parse(text) as Written
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      parameters: parameters ?? [],
      body: requestBody?.content['application/json']?.schema ?? null,
      answers: responses,
    })),
  )
  return { operations, schemas: components.schemas }
}

/** The schema itself, and the name it goes by. */
export function resolved(schema: Schema, schemas: Schemas): { name: string; schema: Schema } {
  const name = schema.$ref?.replace('#/components/schemas/', '') ?? ''
  return { name, schema: name === '' ? schema : schemas[name]! }
}
