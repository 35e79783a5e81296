// `carillon cancel`: ends a run, and the schedule goes on; with --job it ends the job.

import type { RunDetail } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { actOnAll } from '../acting.ts'
import { define, exits, type Flags } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob, findJobs, findRun } from '../find.ts'
import { CliProblem } from '../problem.ts'
import { assertState } from '../states.ts'

export const command = define({
  name: 'cancel',
  group: 'act',
  about: 'end runs that wait or run; with --job end jobs for good',
  args: [['<run-or-job...>', 'ids of runs, or jobs for what they run now']],
  flags: [
    { flags: '--reason <text>', about: 'why' },
    { flags: '--job', about: 'end the jobs themselves: they do not fire again' },
  ],
  isMutation: true,
  examples: [
    ['carillon cancel crawl.news', 'what it runs now; it fires again as planned'],
    ['carillon cancel --job old.sync --reason "moved"', 'the job itself'],
  ],
  run: async (context, [typed], flags) =>
    flags['job'] === true
      ? cancelJobs(context, typed as string[], flags)
      : cancelRuns(context, typed as string[], flags),
})

function reasonOf(flags: Flags): { readonly reason?: string } {
  const reason = flags['reason'] as string | undefined
  return reason === undefined ? {} : { reason }
}

async function cancelJobs(context: Context, typed: readonly string[], flags: Flags) {
  const jobs = await findJobs(context, typed)
  const client = await context.client()
  return actOnAll(context, jobs, {
    nameOf: job => job.name,
    would: job => `cancel the job ${job.name}`,
    check: job => assertState('cancel', job),
    question: all => `Cancel ${all.map(({ name }) => name).join(', ')} for good?`,
    act: job => client.jobs.cancel(job.id, reasonOf(flags), { signal: context.signal }),
    told: job => `cancelled the job ${job.name}`,
  })
}

async function cancelRuns(context: Context, typed: readonly string[], flags: Flags) {
  const client = await context.client()
  const { signal } = context
  const runs: RunDetail[] = []
  for (const one of typed) runs.push(await runOf(client, one, signal))
  return actOnAll(context, runs, {
    nameOf: run => run.id,
    would: run => `cancel run ${run.id} of ${run.job_name} (${run.status})`,
    check: run => {
      if (run.finished_at === null) return
      throw new CliProblem(exits.state, `cannot cancel run ${run.id}: it is ${run.status}`)
    },
    act: run => client.runs.cancel(run.id, reasonOf(flags), { signal }),
    told: run => `cancelled run ${run.id} of ${run.job_name}`,
  })
}

/** A job stands for what it runs, or for what was asked for and waits. */
async function runOf(client: Api, typed: string, signal: AbortSignal): Promise<RunDetail> {
  const own = await findRun(client, typed, signal)
  if (own !== null) return own
  const job = await findJob(client, typed, signal)
  const query = { job: job.id, status: 'running,queued,retrying', limit: 1 }
  const [open] = (await client.runs.list(query, { signal })).runs
  if (open) return client.runs.get(open.id, { signal })
  const hint = `to end the job for good: carillon cancel --job ${job.name}`
  throw new CliProblem(exits.state, `${job.name} runs nothing now: it is ${job.status}`, hint)
}
