// The document that describes the API, made from the schemas that check it.

import { expect, it } from 'vitest'
import { startService } from './service.ts'

interface Operation {
  readonly security: unknown
  readonly requestBody: { readonly content: Readonly<Record<string, { schema: unknown }>> }
  readonly responses: Readonly<
    Record<string, { content: Record<string, { schema: { $ref: string } }> }>
  >
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

it('describes every route of the API, with its refusals and who may use it', async () => {
  const s = await startService({ works: false })
  const answer = await s.caller().get('/openapi.json')
  expect(answer.status).toBe(200)
  const body = answer.body as unknown as Document
  expect(body.openapi).toBe('3.1.0')
  const paths = Object.keys(body.paths)
  expect(paths).toEqual(
    expect.arrayContaining(['/api/v1/jobs', '/api/v1/jobs/{id}', '/api/v1/jobs/{id}/pause']),
  )
  const create = body.paths['/api/v1/jobs']!['post']!
  expect(create.requestBody.content['application/json']!.schema).toBeDefined()
  expect(Object.keys(create.responses).toSorted()).toEqual(['201', '4XX', '5XX'])
  expect(create.responses['4XX']!.content['application/problem+json']!.schema.$ref).toBe(
    '#/components/schemas/Problem',
  )
  expect(create.security).toEqual([{ token: [] }, { session: [] }])
  expect(body.paths['/healthz']!['get']!.security).toEqual([])
})

it('holds no reference that leads nowhere', async () => {
  const s = await startService({ works: false })
  const answer = await s.caller().get('/openapi.json')
  const { text } = answer
  const body = answer.body as unknown as Document
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(m => m[1]!)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter(name => !(name in body.components.schemas))).toEqual([])
})
