// `carillon rm`: jobs go, with their history.

import { actOnAll } from '../acting.ts'
import { define } from '../command.ts'
import { findJobs } from '../find.ts'

export const command = define({
  name: 'rm',
  group: 'act',
  about: 'remove jobs in any state, with their history',
  args: [['<job...>', 'names or ids']],
  isMutation: true,
  examples: [
    ['carillon rm old.sync', 'asks first'],
    ['carillon rm old.sync --yes', 'for a script'],
  ],
  run: async (context, [typed]) => {
    const jobs = await findJobs(context, typed as string[])
    const client = await context.client()
    return actOnAll(context, jobs, {
      nameOf: job => job.name,
      would: job => `remove ${job.name} (${job.status}, ${job.run_count} runs)`,
      question: all => `Remove ${all.map(({ name }) => name).join(', ')} with all history?`,
      act: async job => {
        await client.jobs.remove(job.id, { signal: context.signal })
        return job
      },
      told: job => `removed ${job.name}`,
    })
  },
})
