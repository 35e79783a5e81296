// Zod at the edge: one schema checks what comes in, types the handler and describes the API.

import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { z } from 'zod'
import { checkPart } from '../../use-cases/call/input.ts'

export const compileValidator: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (given: unknown) => {
    try {
      return { value: checkPart(schema, given, httpPart === 'headers' ? httpPart : 'body') }
    } catch (error) {
      return { error: error as Error }
    }
  }

/** Answers are typed by their schemas when compiled; with `checks` they are compared as they go. */
export function answerCompiler(checks: boolean): FastifySerializerCompiler<FastifySchema> {
  return ({ schema, url, httpStatus }) => {
    if (!checks) return data => JSON.stringify(data)
    const known = schema as unknown as z.ZodType
    return data => {
      const text = JSON.stringify(data)
      const parsed = known.safeParse(JSON.parse(text))
      if (parsed.success) return text
      throw new Error(`the answer ${httpStatus} of ${url} does not fit: ${parsed.error.message}`)
    }
  }
}
