// `carillon logs`: what a run logged; with -f also what it will.

import type { LogLine } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findRunId } from '../find.ts'
import { whole } from '../numbers.ts'
import { safe, type Style } from '../screen.ts'
import { zoneFor } from '../times.ts'
import { formatInZone } from '../../cron/index.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const
const looks: Readonly<Record<LogLine['level'], Style>> = {
  debug: 'faint',
  info: 'wait',
  warn: 'retry',
  error: 'failed',
}

export const command = define({
  name: 'logs',
  group: 'look',
  about: 'what a run logged',
  args: [['<run-or-job>', 'the id of a run, or a job for its newest run']],
  flags: [
    { flags: '-f, --follow', about: 'wait for more until the attempt is over' },
    { flags: '--attempt <n>', about: 'an older attempt of the run', parse: whole(1, 1_000_000) },
    { flags: '--level <name>', about: 'this and above', choices: levels },
  ],
  examples: [
    ['carillon logs email.digest', 'of its newest run'],
    ['carillon logs -f email.digest', 'as they come'],
  ],
  run: async (context, [typed], flags) => {
    const client = await context.client()
    const { signal } = context
    const id = await findRunId(client, typed as string, signal)
    const least = levels.indexOf((flags['level'] as LogLine['level'] | undefined) ?? 'debug')
    const isFollowing = flags['follow'] === true
    const attempt = flags['attempt'] as number | undefined
    const asked = { follow: isFollowing, ...(attempt === undefined ? {} : { attempt }) }
    let count = 0
    for await (const line of client.runs.lines(id, asked, { signal })) {
      if (levels.indexOf(line.level) < least) continue
      count++
      if (context.globals.json) context.jsonLine(line)
      else context.print(shown(context, line))
    }
    if (count === 0) context.say(`run ${id} has logged nothing`)
    return exits.ok
  },
})

function shown(context: Context, { at, level, message, fields }: LogLine): string {
  const { screen, globals } = context
  const when = screen.paint('faint', stamp(Date.parse(at), zoneFor(globals.tz)))
  const more = fields === null ? '' : ` ${screen.paint('faint', safe(JSON.stringify(fields)))}`
  return `${when} ${screen.paint(looks[level], level.padEnd(5))} ${safe(message)}${more}`
}

/** `07:00:03.120 CET`: the day is the run's. */
function stamp(at: number, zone: string): string {
  const parts = formatInZone(at - (at % 1_000), zone).split(' ')
  const clock = parts.at(-2)!
  const seconds = clock.length === 5 ? `${clock}:00` : clock
  return `${seconds}.${String(at % 1_000).padStart(3, '0')} ${parts.at(-1)!}`
}
