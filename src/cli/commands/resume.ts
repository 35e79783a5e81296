// `carillon resume`: paused jobs fire again.

import type { Job } from '../../client/index.ts'
import { actOnAll } from '../acting.ts'
import { define } from '../command.ts'
import { findJobs } from '../find.ts'
import { nextOf } from '../job-words.ts'
import { assertState } from '../states.ts'

export const command = define({
  name: 'resume',
  group: 'act',
  about: 'let paused jobs fire again; what they missed is not run',
  args: [['<job...>', 'names or ids']],
  isMutation: true,
  examples: [['carillon resume billing.invoice', 'from now on']],
  run: async (context, [typed]) => {
    const jobs = await findJobs(context, typed as string[])
    const client = await context.client()
    return actOnAll(context, jobs, {
      nameOf: job => job.name,
      would: job => `resume ${job.name}`,
      check: job => assertState('resume', job),
      act: job => client.jobs.resume(job.id, { signal: context.signal }),
      told: (job, after) =>
        `resumed ${job.name}: ${nextOf(after as Job, context.now(), context.globals.tz)}`,
    })
  },
})
