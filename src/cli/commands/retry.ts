// `carillon retry`: a run once more, or a failed job from its beginning.

import type { Job, RunDetail } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { actOnAll } from '../acting.ts'
import { define, exits } from '../command.ts'
import { findJob, findRun } from '../find.ts'
import { CliProblem } from '../problem.ts'

type Thing =
  | { readonly kind: 'run'; readonly run: RunDetail }
  | { readonly kind: 'job'; readonly job: Job }

export const command = define({
  name: 'retry',
  group: 'act',
  about:
    'a new run of the same occurrence; a failed job starts over, one set aside is tried at once',
  args: [['<run-or-job...>', 'ids of runs, or jobs']],
  isMutation: true,
  examples: [
    ['carillon retry old.sync', 'a job that has failed or is set aside, or its last failed run'],
    [
      'carillon runs status:failed --plain --columns id | xargs carillon retry --yes',
      'all of them',
    ],
  ],
  run: async (context, [typed]) => {
    const client = await context.client()
    const { signal } = context
    const things: Thing[] = []
    for (const one of typed as string[]) things.push(await thingOf(client, one, signal))
    return actOnAll(context, things, {
      nameOf,
      would: thing =>
        thing.kind === 'job'
          ? `start ${thing.job.name} over`
          : `run ${thing.run.id} of ${thing.run.job_name} again`,
      check: thing => {
        if (thing.kind === 'job' || thing.run.finished_at !== null) return
        const { id, status } = thing.run
        throw new CliProblem(exits.state, `cannot retry run ${id}: it is ${status}`)
      },
      act: (thing): Promise<unknown> =>
        thing.kind === 'job'
          ? client.jobs.retry(thing.job.id, { signal })
          : client.runs.retry(thing.run.id, { signal }),
      told: (thing, resource) =>
        thing.kind === 'job'
          ? `${thing.job.name} starts over`
          : `run ${(resource as { run_id: string }).run_id} is queued`,
    })
  },
})

function nameOf(thing: Thing): string {
  return thing.kind === 'job' ? thing.job.name : thing.run.id
}

async function thingOf(client: Api, typed: string, signal: AbortSignal): Promise<Thing> {
  const own = await findRun(client, typed, signal)
  if (own !== null) return { kind: 'run', run: own }
  const job = await findJob(client, typed, signal)
  if (job.status === 'failed' || job.reason !== null) return { kind: 'job', job }
  const query = { job: job.id, status: 'failed', limit: 1 }
  const [failed] = (await client.runs.list(query, { signal })).runs
  if (failed) return { kind: 'run', run: await client.runs.get(failed.id, { signal }) }
  const hint = `to run it once more: carillon run ${job.name}`
  throw new CliProblem(exits.state, `${job.name} has no failed run: it is ${job.status}`, hint)
}
