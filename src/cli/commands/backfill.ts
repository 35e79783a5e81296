// `carillon backfill`: runs for past firings of a schedule, which does not move.

import { iso } from '../../core/time.ts'
import { define, exits } from '../command.ts'
import { findJob } from '../find.ts'
import { zoneOf } from '../job-words.ts'
import { momentOf } from '../numbers.ts'
import { shortMoment, zoneFor } from '../times.ts'
import { usage } from '../problem.ts'

export const command = define({
  name: 'backfill',
  group: 'act',
  about: 'run past firings of a schedule, one after the other',
  args: [['<job>', 'its name or id']],
  flags: [
    { flags: '--from <moment>', about: 'the first moment, such as 2026-11-01' },
    { flags: '--to <moment>', about: 'the last one (default now)' },
  ],
  isMutation: true,
  examples: [
    ['carillon backfill email.digest --from 2026-11-01 --to 2026-11-08', 'a week once more'],
    ['carillon backfill email.digest --from 2026-11-01 --dry-run', 'how many that would be'],
  ],
  run: async (context, [typed], flags) => {
    const { signal, globals } = context
    const now = context.now()
    const given = flags['from'] as string | undefined
    if (given === undefined) throw usage('--from is needed', 'such as --from 2026-11-01')
    const from = momentOf('--from', given, now)
    const to = typeof flags['to'] === 'string' ? momentOf('--to', flags['to'], now) : now
    const client = await context.client()
    const job = await findJob(client, typed as string, signal)
    const range = { from: iso(from), to: iso(to) }
    const seen = await client.jobs.backfill(job.id, { ...range, preview: true }, { signal })
    const zone = zoneFor(globals.tz, zoneOf(job))
    const [first, last] = [from, to].map(at => shortMoment(at, now, zone))
    const what = `${seen.count} run${seen.count === 1 ? '' : 's'} of ${job.name}, ${first} to ${last}`
    if (globals.isDryRun) {
      context.show(seen, () => `would start ${what}`)
      return exits.ok
    }
    if (seen.count > 1 && !(await context.confirm(`Start ${what}?`))) return exits.failed
    const asked = await client.jobs.backfill(job.id, range, { signal })
    if (globals.json) context.json(asked)
    else context.say(`started ${what}; the first is ${asked.run_id}`)
    return exits.ok
  },
})
