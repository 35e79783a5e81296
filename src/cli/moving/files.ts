// The files of one label: read together, with everything that is wrong in any of them.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CarillonError } from '../../client/error.ts'
import type { JobBody, ReconcileBody, Reconciliation } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { readJobsFile, type FileJob, type FileProblem } from '../../move/jobs-file.ts'
import { exits } from '../exits.ts'
import { readText } from '../payload.ts'
import { CliProblem, usage } from '../problem.ts'

const JOBS_MAX = 1_000

export interface FileSet {
  readonly app: string
  readonly tenant: string | null
  readonly generation: string
  readonly jobs: readonly FileJob[]
  readonly problems: readonly FileProblem[]
}

export interface Given {
  readonly app: string | undefined
  readonly tenant: string | undefined
}

/** Throws what concerns the set as a whole; problems of single lines are kept for later. */
export function readFiles(paths: readonly string[], given: Given): FileSet {
  const files = paths.flatMap(filesAt).map(path => readJobsFile(path, readText(path)))
  const one = (name: 'app' | 'tenant' | 'generation') => {
    const said = [...new Set(files.flatMap(file => file[name] ?? []))]
    if (said.length > 1) throw usage(`the files name several: ${name} ${said.join(' and ')}`)
    return said[0] ?? null
  }
  const app = given.app ?? one('app')
  const problems = files.flatMap(file => file.problems)
  if (app === null && problems.length === 0) {
    const hint =
      'write app: <label> into the file, or give --app; only jobs of that label are pruned'
    throw usage('whose jobs are these?', hint)
  }
  const jobs = files.flatMap(file => file.jobs)
  if (jobs.length > JOBS_MAX) {
    throw usage(`a label has at most ${JOBS_MAX} jobs in files`, 'part them by app')
  }
  const tenant = given.tenant ?? one('tenant')
  return { app: app ?? '', tenant, generation: one('generation') ?? '', jobs, problems }
}

function filesAt(path: string): string[] {
  if (path === '-' || !existsSync(path) || !statSync(path).isDirectory()) return [path]
  const names = readdirSync(path).filter(name => /\.(?:ya?ml|json)$/.test(name))
  return names.toSorted().map(name => join(path, name))
}

export interface Asking {
  readonly client: Api
  readonly mode: 'plan' | 'apply'
  readonly orphans: 'archive' | 'keep'
  readonly signal: AbortSignal
}

/** Throws every problem of every file at once, each with its file and line. */
export async function reconcileFiles(set: FileSet, asking: Asking): Promise<Reconciliation> {
  const { problems, jobs } = set
  const isWhole = problems.length === 0
  const asked = await ask(set, jobs, isWhole ? asking : { ...asking, mode: 'plan' })
  if (isWhole && !Array.isArray(asked)) return asked
  const found = [...problems, ...(Array.isArray(asked) ? await further(set, asked, asking) : [])]
  const lines = found
    .toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
    .map(({ file, line, text }) => `${file}:${line}: ${text}`)
  const unique = [...new Set(lines)]
  const count = `${unique.length} problem${unique.length === 1 ? '' : 's'}, nothing was changed`
  throw new CliProblem(exits.usage, [count, ...unique].join('\n  '))
}

/** The service looks at what jobs mean once all are well formed: so those that are go again. */
async function further(
  set: FileSet,
  problems: readonly FileProblem[],
  asking: Asking,
): Promise<readonly FileProblem[]> {
  const lines = new Set(problems.map(({ job }) => job))
  const fine = set.jobs.filter(job => !lines.has(job))
  if (fine.length === 0 || fine.length === set.jobs.length) return problems
  const more = await ask(set, fine, { ...asking, mode: 'plan' })
  return Array.isArray(more) ? [...problems, ...more] : problems
}

/** The difference, or what is wrong. */
async function ask(
  { app, tenant, generation }: FileSet,
  jobs: readonly FileJob[],
  { client, mode, orphans, signal }: Asking,
): Promise<Reconciliation | FileProblem[]> {
  const body: ReconcileBody = {
    app: app || 'none',
    generation,
    mode,
    orphans,
    ...(tenant === null ? {} : { tenant }),
    jobs: jobs.map(({ definition, key, job }) => ({ definition, key, job: job as JobBody })),
  }
  try {
    return await client.reconcile(body, { signal })
  } catch (error) {
    if (!(error instanceof CarillonError) || error.problems.length === 0) throw error
    return error.problems.map(problem => placed(problem, jobs))
  }
}

function placed(
  { field, rule, value }: CarillonError['problems'][number],
  jobs: readonly FileJob[],
): FileProblem {
  const [, n, path = ''] = /^jobs\.(\d+)\.(?:job\.)?(.*)$/.exec(field) ?? []
  const job = n === undefined ? undefined : jobs[Number(n)]
  const isShort = ['string', 'number'].includes(typeof value) && value !== ''
  const got = isShort ? ` (got ${JSON.stringify(value)})` : ''
  if (job === undefined)
    return { file: 'the files', line: 1, text: `${field} ${rule}${got}`, job: null }
  const line = job.lineOf(path.split('.'))
  return { file: job.file, line, text: `${job.definition}: ${path} ${rule}${got}`, job }
}
