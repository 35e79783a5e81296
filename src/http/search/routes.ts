// `/api/v1/search`: jobs by name or id, runs and attempts by id, crawled pages by their words,
// tenants for those who see all.

import { z } from 'zod'
import { parseRunId, runId } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { runOf } from '../../core/history/run.ts'
import { statusOf } from '../../core/control/status.ts'
import { iso } from '../../core/time.ts'
import type { AppParts, Request, Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { EVERY_TENANT, maySee, scopeOf } from '../auth/principal.ts'
import { text } from '../jobs/texts.ts'
import { statuses } from '../jobs/view.ts'
import { runStatuses } from '../runs/view.ts'

const FOUND_MAX = 20
const TENANTS_LOOKED_AT = 1_000

export const query = z.object({
  q: text(limits.nameLength),
  limit: z.coerce.number().int().min(1).max(FOUND_MAX).default(10),
})

export const answer = z
  .strictObject({
    jobs: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        tenant: z.string(),
        status: z.enum(statuses),
      }),
    ),
    runs: z.array(
      z.strictObject({
        id: z.string(),
        job_id: z.string(),
        job_name: z.string(),
        tenant: z.string(),
        status: z.enum(runStatuses),
      }),
    ),
    pages: z.array(
      z.strictObject({
        url: z.string(),
        title: z.string(),
        snippet: z.string(),
        source: z.string(),
        job_id: z.string(),
        fetched_at: z.iso.datetime(),
      }),
    ),
    tenants: z.array(z.string()),
  })
  .meta({ id: 'SearchResults' })

type Found = z.output<typeof answer>

export const searchRoutes: Routes = (app, parts) => {
  app.route({
    method: 'GET',
    url: '/api/v1/search',
    config: { access: 'viewer' },
    schema: {
      tags: ['system'],
      summary: 'Jobs by name or id, runs by id, crawled pages by their words, tenants',
      querystring: query,
      response: { 200: answer },
    },
    handler: async request => {
      const { q, limit } = request.query
      return {
        jobs: await jobs(request, parts, q, limit),
        runs: await runs(request, parts, q),
        pages: await pages(request, parts, q, limit),
        tenants: await tenants(request, parts, q, limit),
      }
    },
  })
}

async function jobs(
  request: Request,
  { engine }: AppParts,
  q: string,
  limit: number,
): Promise<Found['jobs']> {
  const filter = { kind: 'job', search: q, ...scopeOf(callerOf(request)) } as const
  const { items } = await engine.store.list(filter, { limit, newestFirst: true })
  return items.map(job => ({
    id: job.id,
    name: job.spec.name,
    tenant: job.spec.tenant,
    status: statusOf(job),
  }))
}

/** By the id of the run, or of one of its attempts. */
async function runs(request: Request, { engine }: AppParts, q: string): Promise<Found['runs']> {
  const { store } = engine
  const [attempt] = (await store.attempts({ id: q }, { limit: 1 })).items
  const at = attempt ? { jobId: attempt.jobId, run: attempt.run } : parseRunId(q)
  const [job] = at ? await store.get([at.jobId]) : []
  if (!at || !job || !maySee(callerOf(request), job.spec.tenant)) return []
  const page = { limit: 1, newestFirst: true }
  const { items } = await store.attempts({ jobId: job.id, run: at.run }, page)
  const run = runOf(job, at.run, items)
  if (run === null) return []
  return [
    {
      id: runId(job.id, at.run),
      job_id: job.seriesId ?? job.id,
      job_name: job.spec.name,
      tenant: job.spec.tenant,
      status: run.status,
    },
  ]
}

/** Pages belong to one tenant: whoever sees all of them has to ask as one. */
async function pages(
  request: Request,
  parts: AppParts,
  q: string,
  limit: number,
): Promise<Found['pages']> {
  const { tenant } = callerOf(request)
  if (parts.pages === null || tenant === EVERY_TENANT) return []
  const { items } = await parts.pages.search({ tenant, text: q, limit, offset: 0 })
  return items.map(({ url, title, snippet, source, jobId, fetchedAt }) => ({
    url,
    title,
    snippet,
    source,
    job_id: jobId,
    fetched_at: iso(fetchedAt),
  }))
}

async function tenants(
  request: Request,
  { engine }: AppParts,
  q: string,
  limit: number,
): Promise<string[]> {
  if (callerOf(request).tenant !== EVERY_TENANT) return []
  const wanted = q.toUpperCase()
  const found: string[] = []
  let cursor: string | null = null
  let looked = 0
  do {
    const page = await engine.store.tenants({ limit: limits.pageMax, cursor })
    found.push(
      ...page.items.map(one => one.tenant).filter(name => name.toUpperCase().includes(wanted)),
    )
    looked += page.items.length
    cursor = page.cursor
  } while (cursor !== null && looked < TENANTS_LOOKED_AT && found.length < limit)
  return found.slice(0, limit)
}
