// `carillon edit`: what is said changes, everything else stays.

import type { Job, JobBody } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob } from '../find.ts'
import { bodyFlags, bodyOf } from '../job-body.ts'
import { nextOf } from '../job-words.ts'
import { usage } from '../problem.ts'
import { safe } from '../screen.ts'
import { mergedBody, tryBody } from '../try-body.ts'

export const command = define({
  name: 'edit',
  group: 'act',
  about: 'change a job; what is not said stays',
  args: [['<job>', 'its name or id']],
  flags: [{ flags: '--name <name>', about: 'call it otherwise' }, ...bodyFlags],
  isMutation: true,
  hasOwnZone: true,
  examples: [
    ["carillon edit email.digest --cron '0 8 * * 1-5' --tz Europe/Berlin", 'an hour later'],
    ['carillon edit email.digest --retries 5 --time-limit 20m --dry-run', 'see what would change'],
  ],
  run: async (context, [typed], flags) => {
    const { signal, globals } = context
    const name = flags['name'] as string | undefined
    const patch: JobBody = { ...bodyOf(flags), ...(name === undefined ? {} : { name }) }
    if (Object.keys(patch).length === 0)
      throw usage('nothing to change was said', 'see carillon edit -h')
    const client = await context.client()
    const job = await findJob(client, typed as string, signal)
    if (globals.isDryRun) {
      await tryBody(client, job.name, mergedBody(job, patch), signal)
      context.show({ dry_run: true, job_id: job.id, patch }, () => differences(job, patch))
      return exits.ok
    }
    const after = await client.jobs.edit(job.id, patch, { signal, ifMatch: `"${job.revision}"` })
    tell(context, after)
    return exits.ok
  },
})

function tell(context: Context, job: Job): void {
  if (context.globals.json) context.json(job)
  else context.say(`changed ${safe(job.name)}: ${nextOf(job, context.now(), 'local')}`)
}

function differences(job: Job, patch: JobBody): string {
  const before = job as Readonly<Record<string, unknown>>
  const lines = Object.entries(patch).map(([field, to]) => {
    const from = JSON.stringify(before[field] ?? null)
    return safe(`  ${field}: ${from} → ${JSON.stringify(to)}`)
  })
  return [`would change ${safe(job.name)}:`, ...lines].join('\n')
}
