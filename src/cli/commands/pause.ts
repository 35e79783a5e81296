// `carillon pause`: jobs stop firing, for a while or until they are resumed.

import type { Job } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { CarillonError } from '../../client/error.ts'
import { iso } from '../../core/time.ts'
import { actOnAll } from '../acting.ts'
import { define, exits } from '../command.ts'
import { findJobs } from '../find.ts'
import { zoneOf } from '../job-words.ts'
import { momentOf } from '../numbers.ts'
import { CliProblem, usage } from '../problem.ts'
import { assertState } from '../states.ts'
import { shortMoment, zoneFor } from '../times.ts'

interface Pause {
  readonly until?: string
  readonly note?: string
}

export const command = define({
  name: 'pause',
  group: 'act',
  about: 'stop jobs from firing; a run under way finishes first',
  args: [['<job...>', 'names or ids']],
  flags: [
    {
      flags: '--until <moment>',
      about: 'resume by itself then, such as 2h or 2026-12-01T09:00:00Z',
    },
    { flags: '--note <text>', about: 'why; shown wherever the job is' },
  ],
  isMutation: true,
  examples: [
    ['carillon pause billing.invoice --until 2h --note "DB upgrade"', 'for two hours'],
    ['carillon pause a b c', 'several, until they are resumed'],
  ],
  run: async (context, [typed], flags) => {
    const now = context.now()
    const given = flags['until'] as string | undefined
    const until = given === undefined ? null : momentOf('--until', given, now)
    if (until !== null && until <= now) throw usage('--until has passed already')
    const note = flags['note'] as string | undefined
    const pause: Pause = {
      ...(until === null ? {} : { until: iso(until) }),
      ...(note === undefined ? {} : { note }),
    }
    const jobs = await findJobs(context, typed as string[])
    const client = await context.client()
    const end = (job: Job) =>
      until === null
        ? ''
        : ` until ${shortMoment(until, now, zoneFor(context.globals.tz, zoneOf(job)))}`
    return actOnAll(context, jobs, {
      nameOf: job => job.name,
      would: job => `pause ${job.name}${end(job)}`,
      check: job => assertState('pause', job),
      act: job => paused(client, job, pause, context.signal),
      told: (job, after) =>
        (after as Job).status === 'paused'
          ? `paused ${job.name}${end(job)}`
          : `${job.name} is running: paused${end(job)} when its run ends`,
    })
  },
})

async function paused(client: Api, job: Job, pause: Pause, signal: AbortSignal): Promise<Job> {
  try {
    return await client.jobs.pause(job.id, pause, { signal })
  } catch (error) {
    const isRunning = error instanceof CarillonError && error.body['from'] === 'running'
    if (!isRunning) throw error
  }
  // The route for one job refuses while it runs; the one for many lets the run finish.
  const begun = await client.bulk({ action: 'pause', ids: [job.id], ...pause }, { signal })
  const { failures } = await client.bulkEnd(begun.id, undefined, { signal })
  const [failure] = failures
  if (failure) throw new CliProblem(exits.state, failure.detail)
  return client.jobs.get(job.id, { signal })
}
