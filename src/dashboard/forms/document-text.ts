// A document as text: YAML or JSON, read and written. YAML is loaded when someone asks for it.

import { ApiProblem } from '../data/problem.ts'
import { isFields, jsonText, type Fields } from './form-values.ts'

export type TextFormat = 'yaml' | 'json'

const yaml = () => import('yaml')

export async function written(document: Fields, format: TextFormat): Promise<string> {
  return format === 'json' ? `${jsonText(document)}\n` : (await yaml()).stringify(document)
}

/** Throws a refusal about the text, as the service does about fields. */
export async function readIn(text: string, format: TextFormat): Promise<Fields> {
  const value = await parsed(text, format)
  if (isFields(value)) return value
  throw unreadable('must be an object with fields')
}

async function parsed(text: string, format: TextFormat): Promise<unknown> {
  try {
    return format === 'json' ? (JSON.parse(text) as unknown) : (await yaml()).parse(text)
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error))
  }
}

/** The name under which a form refuses a text that cannot be read. */
export const TEXT_FIELD = 'text'

function unreadable(rule: string): ApiProblem {
  const errors = [{ field: TEXT_FIELD, value: null, rule }]
  return new ApiProblem(422, {
    title: 'The text cannot be read',
    detail: 'Nothing was sent.',
    errors,
  })
}
