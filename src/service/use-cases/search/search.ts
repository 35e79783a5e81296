// Jobs by name or id, runs and attempts by id, crawled pages by their words,
// tenants for those who see all.

import { z } from 'zod'
import { parseRunId, runId } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { runOf } from '../../../core/history/run.ts'
import { statusOf } from '../../../core/control/status.ts'
import { iso } from '../../../core/time.ts'
import { EVERY_TENANT, maySee, scopeOf } from '../../auth/principal.ts'
import { text } from '../jobs/texts.ts'
import { statuses } from '../jobs/view.ts'
import { runStatuses } from '../runs/view.ts'
import type { Call } from '../call/call.ts'
import { pagesOf } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'

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

export const search = useCase({
  access: 'viewer',
  query,
  result: answer,
  handle: async call => {
    const { q, limit } = call.query
    return {
      jobs: await jobs(call, q, limit),
      runs: await runs(call, q),
      pages: await pages(call, q, limit),
      tenants: await tenants(call, q, limit),
    }
  },
})

async function jobs({ engine, caller }: Call, q: string, limit: number): Promise<Found['jobs']> {
  const filter = { kind: 'job', search: q, ...scopeOf(caller) } as const
  const { items } = await engine.store.list(filter, { limit, newestFirst: true })
  return items.map(job => ({
    id: job.id,
    name: job.spec.name,
    tenant: job.spec.tenant,
    status: statusOf(job),
  }))
}

/** By the id of the run, or of one of its attempts. */
async function runs({ engine, caller }: Call, q: string): Promise<Found['runs']> {
  const { store } = engine
  const [attempt] = (await store.attempts({ id: q }, { limit: 1 })).items
  const at = attempt ? { jobId: attempt.jobId, run: attempt.run } : parseRunId(q)
  const [job] = at ? await store.get([at.jobId]) : []
  if (!at || !job || !maySee(caller, job.spec.tenant)) return []
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
async function pages(call: Call, q: string, limit: number): Promise<Found['pages']> {
  const { tenant } = call.caller
  if (call.pages === null || tenant === EVERY_TENANT) return []
  const { items } = await call.pages.search({ tenant, text: q, limit, offset: 0 })
  return items.map(({ url, title, snippet, source, jobId, fetchedAt }) => ({
    url,
    title,
    snippet,
    source,
    job_id: jobId,
    fetched_at: iso(fetchedAt),
  }))
}

async function tenants({ engine, caller }: Call, q: string, limit: number): Promise<string[]> {
  if (caller.tenant !== EVERY_TENANT) return []
  const wanted = q.toUpperCase()
  const found: string[] = []
  for await (const { items } of pagesOf(page => engine.store.tenants(page), TENANTS_LOOKED_AT)) {
    found.push(...items.map(one => one.tenant).filter(name => name.toUpperCase().includes(wanted)))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}
