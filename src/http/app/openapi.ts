// The API described by the schemas that check it: OpenAPI 3.1.

import swagger from '@fastify/swagger'
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { App, AppParts } from './parts.ts'
import { problemSchema } from './problem.ts'

const about = 'A durable job scheduler: every due occurrence gets exactly one recorded decision.'

export function describeApi(app: App, { version }: AppParts): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Carillon', description: about, version },
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          session: { type: 'apiKey', in: 'cookie', name: 'carillon_session' },
        },
      },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig: { unrepresentable: 'any' } }),
    transformObject: jsonSchemaTransformObject,
  })
  // Every route may refuse, and says so in the same form.
  app.addHook('onRoute', route => {
    const { access } = route.config ?? {}
    const schema = route.schema ?? {}
    const response = { '4xx': refusal('Refused'), '5xx': refusal('Failed') }
    route.schema = {
      ...schema,
      ...(access === 'open' ? { security: [] } : { security: [{ token: [] }, { session: [] }] }),
      response: { ...response, ...(schema.response as object | undefined) },
    }
  })
}

function refusal(description: string): object {
  return { description, content: { 'application/problem+json': { schema: problemSchema } } }
}
