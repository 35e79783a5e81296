// From what a person types to a job or a run: an id, a name, or the beginning of an id.

import type { Job, RunDetail } from '../client/index.ts'
import type { Api } from './target/api.ts'
import { CarillonError } from '../client/error.ts'
import { exits } from './exits.ts'
import type { Context } from './context.ts'
import { CliProblem, usage } from './problem.ts'
import { didYouMean } from '../core/spec/suggest.ts'

const FOUND_MAX = 20
const LOOKED_AT = 250
const PREFIX_MIN = 6

/** Throws 3 when there is none and 2 when several could be meant. */
export async function findJob(client: Api, typed: string, signal: AbortSignal): Promise<Job> {
  const own = await orNull(client.jobs.get(typed, { signal }))
  if (own !== null) return own
  const { jobs } = await client.search({ q: typed, limit: FOUND_MAX }, { signal })
  const named = jobs.filter(({ name }) => name === typed)
  const begun = typed.length >= PREFIX_MIN ? jobs.filter(({ id }) => id.startsWith(typed)) : []
  const fitting = named.length > 0 ? named : begun
  if (fitting.length === 1) return client.jobs.get(fitting[0]!.id, { signal })
  if (fitting.length > 1) {
    const ids = fitting.map(({ id, tenant }) => `${id} (tenant ${tenant})`).join(', ')
    throw usage(`${fitting.length} jobs are called ${typed}`, `name one by its id: ${ids}`)
  }
  throw await unknown(client, typed, signal)
}

async function unknown(client: Api, typed: string, signal: AbortSignal): Promise<CliProblem> {
  const page = await client.jobs.list({ limit: LOOKED_AT }, { signal })
  const names = page.jobs.map(({ name }) => name)
  const inside = names.find(name => name.includes(typed))
  const hint = didYouMean(typed, names) ?? (inside === undefined ? null : `did you mean ${inside}?`)
  return new CliProblem(
    exits.notFound,
    `there is no job ${typed}`,
    hint ?? 'carillon list shows all',
  )
}

/** In the order they were typed, each once. */
export async function findJobs(context: Context, typed: readonly string[]): Promise<Job[]> {
  const client = await context.client()
  const found = new Map<string, Job>()
  for (const one of typed) {
    const job = await findJob(client, one, context.signal)
    found.set(job.id, job)
  }
  return [...found.values()]
}

/** A run by its id, or by that of one of its attempts; null when it is none. */
export async function findRun(
  client: Api,
  typed: string,
  signal: AbortSignal,
): Promise<RunDetail | null> {
  const own = /\.\d+$/.test(typed) ? await orNull(client.runs.get(typed, { signal })) : null
  if (own !== null) return own
  const { runs } = await client.search({ q: typed, limit: FOUND_MAX }, { signal })
  return runs.length === 1 ? client.runs.get(runs[0]!.id, { signal }) : null
}

/** The id of a run: as typed, or the newest run of the job that is named. */
export async function findRunId(client: Api, typed: string, signal: AbortSignal): Promise<string> {
  const own = await findRun(client, typed, signal)
  if (own !== null) return own.id
  const job = await findJob(client, typed, signal)
  const page = await client.runs.list({ job: job.id, limit: 1 }, { signal })
  const [newest] = page.runs
  if (newest) return newest.id
  throw new CliProblem(exits.notFound, `${job.name} has not run yet`, `carillon why ${job.name}`)
}

export async function orNull<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof CarillonError && error.status === 404) return null
    throw error
  }
}
