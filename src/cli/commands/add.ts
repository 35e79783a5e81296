// `carillon add`: a new job.

import { define, exits } from '../command.ts'
import { bodyFlags, bodyOf } from '../job-body.ts'
import { nextOf, scheduleOf } from '../job-words.ts'
import { safe } from '../screen.ts'
import { tryBody } from '../try-body.ts'

export const command = define({
  name: 'add',
  group: 'act',
  about: 'make a job',
  args: [['<name>', 'what it is called']],
  flags: bodyFlags,
  isMutation: true,
  hasOwnZone: true,
  examples: [
    [
      "carillon add nightly.export --cron '0 3 * * *' --tz Europe/Berlin --http https://example.com/export",
      'call a URL every night',
    ],
    ['carillon add sweep --every 30m --handler sweep', 'code that a node has registered'],
    ['carillon add report -f job.json --dry-run', 'from a file, only to see whether it is right'],
  ],
  run: async (context, [name], flags) => {
    const { signal, globals } = context
    const body = { name: name as string, ...bodyOf(flags) }
    const client = await context.client({ mayCreate: true })
    if (globals.isDryRun) {
      await tryBody(client, name as string, body, signal)
      context.show({ dry_run: true, job: body }, () => `would make ${safe(name as string)}`)
      return exits.ok
    }
    const job = await client.jobs.create(body, { signal })
    if (globals.json) context.json(job)
    else {
      context.say(
        `made ${safe(job.name)}: ${scheduleOf(job)}, ${nextOf(job, context.now(), 'local')}`,
      )
      context.print(job.id)
    }
    return exits.ok
  },
})
