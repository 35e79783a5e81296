// What each type of refusal means: the address in its `type` leads here.

import { z } from 'zod'
import { problemTypes, type ProblemSlug } from '../../use-cases/call/problem.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import type { Routes } from '../app/parts.ts'

export const typeSchema = z
  .strictObject({ type: z.string(), status: z.int(), title: z.string(), meaning: z.string() })
  .meta({ id: 'ProblemType' })

function shown(slug: ProblemSlug): z.output<typeof typeSchema> {
  const [status, title, meaning] = problemTypes[slug]
  return { type: `/problems/${slug}`, status, title, meaning }
}

export const problemRoutes: Routes = app => {
  app.route({
    method: 'GET',
    url: '/problems',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'Every type of refusal',
      response: { 200: z.strictObject({ types: z.array(typeSchema) }) },
    },
    handler: async () => ({ types: (Object.keys(problemTypes) as ProblemSlug[]).map(shown) }),
  })
  app.route({
    method: 'GET',
    url: '/problems/:slug',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'What one type of refusal means',
      params: z.object({ slug: z.string() }),
      response: { 200: typeSchema },
    },
    handler: async ({ params: { slug } }) => {
      if (!Object.hasOwn(problemTypes, slug)) throw notFound('there is no such type of problem')
      return shown(slug as ProblemSlug)
    },
  })
}
