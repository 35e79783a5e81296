// `carillon run`: a job once more beside its schedule; with --wait until it is over.

import type { RunDetail } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob } from '../find.ts'
import { payloadOf } from '../payload.ts'
import { safe } from '../screen.ts'
import { took } from '../times.ts'

export const command = define({
  name: 'run',
  group: 'act',
  about: 'run a job once more; its schedule does not move',
  args: [
    ['<job>', 'its name or id'],
    ['[pairs...]', 'the payload of this run, such as segment=vip n=3'],
  ],
  flags: [
    { flags: '--input <json>', about: 'the payload as JSON, @file, or - for the standard input' },
    { flags: '-w, --wait', about: 'until it is over; prints its result, 1 if it failed' },
  ],
  isMutation: true,
  examples: [
    ['carillon run email.digest', 'now, with its own payload'],
    ['carillon run email.digest segment=vip --wait', 'with another one, and wait for the result'],
    ['carillon run email.digest --input @vip.json', 'from a file'],
  ],
  run: async (context, [typed, pairs], flags) => {
    const { signal, globals } = context
    const payload = payloadOf(flags['input'] as string | undefined, (pairs ?? []) as string[])
    const client = await context.client()
    const job = await findJob(client, typed as string, signal)
    const body = payload === undefined ? {} : { payload }
    if (globals.isDryRun) {
      const given = payload === undefined ? '' : ` with ${safe(JSON.stringify(payload))}`
      context.show(
        { dry_run: true, job_id: job.id, ...body },
        () => `would run ${job.name}${given}`,
      )
      return exits.ok
    }
    const asked = await client.jobs.run(job.id, body, { signal })
    if (flags['wait'] !== true) {
      if (globals.json) context.json(asked)
      else context.say(`run ${asked.run_id} is queued`)
      return exits.ok
    }
    return waitFor(context, client, asked.run_id)
  },
})

async function waitFor(context: Context, client: Api, id: string): Promise<number> {
  const { signal } = context
  const { nodes } = await client.system({ signal })
  if (nodes.length === 0) context.say('no node is running: it waits until one starts')
  const run = await client.runs.wait(id, { signal })
  if (context.globals.json) {
    context.json(run)
  } else {
    context.say(endOf(run))
    if (run.result_omitted) context.say('its result could not be kept: carillon logs shows why')
    if (run.result !== null && run.result !== undefined) context.print(JSON.stringify(run.result))
  }
  return run.status === 'completed' || run.status === 'skipped' ? exits.ok : exits.failed
}

function endOf(run: RunDetail): string {
  const late = run.late_ms === null ? '' : `   (${took(run.late_ms)} late)`
  const why = run.error_message === null ? '' : `: ${safe(run.error_message)}`
  return `run ${run.id} ${run.status} in ${took(run.duration_ms)}${late}${why}`
}
