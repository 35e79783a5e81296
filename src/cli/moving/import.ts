// From jobs that were found elsewhere to stored ones: compared with what an import before has left,
// shown, and applied.

import { CarillonError } from '../../client/error.ts'
import type { ReconcileBody, Reconciliation } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import type { Found, FoundJob, Note } from '../../move/found.ts'
import { exits } from '../exits.ts'
import type { Context } from '../context.ts'
import { CliProblem, usage } from '../problem.ts'
import { report, summary, type Row } from './report.ts'

const BITE = 200
const PRUNED_MAX = 1_000

export interface Imported extends Found {
  readonly app: string
  readonly tenant: string | undefined
  readonly queue: string | undefined
  /** What is no longer there is archived. */
  readonly prunes: boolean
  /** What was read, for messages about lines. */
  readonly source: string
}

/** Answers with the exit code: 1 when something was not converted. */
export async function importJobs(context: Context, found: Imported): Promise<number> {
  const { isDryRun } = context.globals
  if (found.prunes && found.jobs.length > PRUNED_MAX) {
    throw usage(`at most ${PRUNED_MAX} jobs can be compared with --prune`)
  }
  const client = await clientFor(context)
  const planned = await reconciled(context, client, found, 'plan')
  const gone = planned.filter(({ kind }) => kind === 'archived').length
  const isMeant =
    isDryRun || gone === 0 || (await context.confirm(`Archive ${gone} that are no longer there?`))
  if (!isMeant) return exits.failed
  const differences = isDryRun ? planned : await reconciled(context, client, found, 'apply')
  const rows = rowsOf(found, differences)
  if (!isDryRun && client !== null) await suspend(context, client, found, rows)
  tell(context, found, rows)
  return found.notes.some(({ isConverted }) => !isConverted) ? exits.partly : exits.ok
}

/** Null where nothing is stored yet and nothing shall be: then everything would be new. */
async function clientFor(context: Context): Promise<Api | null> {
  if (!context.globals.isDryRun) return context.client({ mayCreate: true })
  try {
    return await context.client()
  } catch (error) {
    const isMissing = error instanceof CliProblem && error.exit === exits.unreachable
    if (isMissing) return null
    throw error
  }
}

type Difference = Reconciliation['differences'][number]

async function reconciled(
  { signal }: Context,
  client: Api | null,
  found: Imported,
  mode: 'plan' | 'apply',
): Promise<Difference[]> {
  if (client === null) return found.jobs.map(job => ({ ...added(job), id: idOf(found, job) }))
  const { app, tenant, queue, jobs, prunes } = found
  const all: Difference[] = []
  const kept = new Map<string, Difference>()
  const bite = prunes ? PRUNED_MAX : BITE
  for (let at = 0; at === 0 || at < jobs.length; at += bite) {
    const part = jobs.slice(at, at + bite)
    const body: ReconcileBody = {
      app,
      mode,
      orphans: prunes ? 'archive' : 'keep',
      ...(tenant === undefined ? {} : { tenant }),
      jobs: part.map(({ definition, key, body: job }) => ({
        definition,
        key,
        job: { ...job, ...(queue === undefined ? {} : { queue }) },
      })),
    }
    try {
      const { differences } = await client.reconcile(body, { signal })
      for (const one of differences) {
        if (one.kind === 'kept') kept.set(one.id, one)
        else all.push(one)
      }
    } catch (error) {
      throw refused(error, part, found.source)
    }
  }
  const own = new Set(jobs.map(job => idOf(found, job)))
  return [...all, ...[...kept.values()].filter(({ id }) => !own.has(id))]
}

function added({ body, definition }: FoundJob): Omit<Difference, 'id'> {
  return { kind: 'added', name: body.name ?? definition, schedule: '', fields: [] }
}

function idOf({ app, tenant = 'default' }: Imported, { definition, key }: FoundJob): string {
  return [tenant, app, definition, key].map(encodeURIComponent).join(':')
}

/** The service speaks of the nth job; people look for the line. */
function refused(error: unknown, jobs: readonly FoundJob[], source: string): unknown {
  if (!(error instanceof CarillonError) || error.problems.length === 0) return error
  const lines = error.problems.map(({ field, rule }) => {
    const [, n, rest] = /^jobs\.(\d+)\.(?:job\.)?(.*)$/.exec(field) ?? []
    const job = n === undefined ? undefined : jobs[Number(n)]
    return job === undefined
      ? `${field} ${rule}`
      : `${source} line ${job.line}, ${job.definition}: ${rest} ${rule}`
  })
  const isForbidden = error.problems.some(({ field }) => field.endsWith('action.kind'))
  const hint = isForbidden
    ? 'jobs that run commands need a service started with --allow-commands'
    : null
  return new CliProblem(exits.usage, ['nothing was imported', ...new Set(lines)].join('\n  '), hint)
}

function rowsOf(found: Imported, differences: readonly Difference[]): Row[] {
  const byId = new Map(differences.map(one => [one.id, one]))
  const rows: Row[] = found.jobs.map(job => {
    const id = idOf(found, job)
    const difference = byId.get(id)
    byId.delete(id)
    const kind = difference?.kind ?? 'unchanged'
    const fields = difference?.fields.map(({ field }) => field) ?? []
    return { kind, id, line: job.line, name: job.body.name ?? job.definition, job, fields }
  })
  const others = [...byId.values()].map(({ kind, id, name }): Row => {
    return { kind, id, line: null, name, job: null, fields: [] }
  })
  return [...rows, ...others]
}

/** Only those that are new: what a person resumed since stays so. */
async function suspend(
  { signal }: Context,
  client: Api,
  { jobs }: Imported,
  rows: readonly Row[],
): Promise<void> {
  for (const [i, job] of jobs.entries()) {
    const row = rows[i]!
    if (!job.isSuspended || row.kind !== 'added') continue
    await client.jobs.pause(row.id, { note: 'was suspended where it comes from' }, { signal })
  }
}

function tell(context: Context, found: Imported, rows: readonly Row[]): void {
  const { globals } = context
  if (globals.json) {
    context.json({
      app: found.app,
      dry_run: globals.isDryRun,
      jobs: rows.map(({ kind, id, line, name, fields }) => ({ kind, id, line, name, fields })),
      attention: found.notes.map(noteView),
    })
    return
  }
  context.print(report(found, rows))
  context.say(summary(found, rows, globals.isDryRun))
  const isCommand = found.jobs.some(({ body }) => body.action?.kind === 'command')
  if (isCommand) {
    context.say(
      'Commands run on nodes started with --allow-commands (CARILLON_ALLOW_COMMANDS=true).',
    )
  }
}

function noteView({ line, text, isConverted }: Note) {
  return { line, text, is_converted: isConverted }
}
