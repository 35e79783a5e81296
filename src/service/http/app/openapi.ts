// The API described by the schemas that check it: OpenAPI 3.1. Routes are only noted as they are
// added; what describes them is loaded and the document made when somebody first asks for it.

import type { FastifySchema, RouteOptions } from 'fastify'
import type { Access } from '../../auth/principal.ts'
import type { App, AppParts, Routes } from './parts.ts'
import { problemSchema } from '../../use-cases/call/problem.ts'

const about = 'A durable job scheduler: every due occurrence gets exactly one recorded decision.'

interface Noted extends Pick<RouteOptions, 'method' | 'url'> {
  readonly schema: FastifySchema
}

/** Notes every route that comes after it; gives the route that answers with the document. */
export function describeApi(app: App, { version }: AppParts): Routes {
  const noted: Noted[] = []
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    noted.push({ method, url, schema: described(schema, config!.access!) })
  })
  let document: Promise<object> | null = null
  return scope => {
    scope.route({
      method: 'GET',
      url: '/openapi.json',
      config: { access: 'open' },
      schema: { hide: true },
      handler: () => (document ??= documentOf(noted, version)),
    })
  }
}

/** Every route may refuse, and says so in the same form; `x-access` says who may use it. */
function described(schema: FastifySchema | undefined, access: Access): FastifySchema {
  const response = { '4xx': refusal('Refused'), '5xx': refusal('Failed') }
  return {
    ...schema,
    'x-access': access,
    security: access === 'open' ? [] : [{ token: [] }, { session: [] }],
    response: { ...response, ...(schema?.response as object | undefined) },
  }
}

function refusal(description: string): object {
  return { description, content: { 'application/problem+json': { schema: problemSchema } } }
}

/** The plugin reads the routes of an app, so it is given one that has nothing else. */
async function documentOf(noted: readonly Noted[], version: string): Promise<object> {
  const { default: Fastify } = await import('fastify')
  const { default: swagger } = await import('@fastify/swagger')
  const { createJsonSchemaTransform, jsonSchemaTransformObject } =
    await import('fastify-type-provider-zod')
  const shadow = Fastify({ exposeHeadRoutes: false })
  shadow.setValidatorCompiler(() => () => true)
  shadow.setSerializerCompiler(() => () => '')
  await shadow.register(swagger, {
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
  for (const route of noted) shadow.route({ ...route, handler: async () => null })
  await shadow.ready()
  return shadow.swagger()
}
