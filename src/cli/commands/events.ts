// `carillon events`: what happens, as it happens, until it is interrupted.

import type { CarillonEvent, Topic } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob } from '../find.ts'
import { whole } from '../numbers.ts'
import { usage } from '../problem.ts'
import { safe } from '../screen.ts'
import { didYouMean } from '../../core/spec/suggest.ts'
import { took, zoneFor } from '../times.ts'
import { formatInZone } from '../../cron/index.ts'

const ESCAPE = '\u001b'
const topics: readonly Topic[] = ['run', 'job', 'counts', 'progress', 'log']

export const command = define({
  name: 'events',
  group: 'look',
  about: 'what happens, as it happens',
  flags: [
    { flags: '--topics <names>', about: `of ${topics.join(', ')} (default run,job)` },
    { flags: '--job <job>', about: 'of one job' },
    { flags: '--after <id>', about: 'goes on behind an event' },
    { flags: '--max <n>', about: 'ends after so many', parse: whole(1, 1_000_000) },
  ],
  examples: [
    ['carillon events', 'runs and jobs, until Ctrl-C'],
    ['carillon events --topics run,log --job email.digest --json', 'one JSON line each'],
  ],
  run: async (context, _words, flags) => {
    const { signal } = context
    const asked = topicsOf((flags['topics'] as string | undefined) ?? 'run,job')
    const client = await context.client()
    const named = flags['job'] as string | undefined
    const job = named === undefined ? null : await findJob(client, named, signal)
    const after = flags['after'] as string | undefined
    const max = (flags['max'] as number | undefined) ?? Infinity
    let count = 0
    const stream = client.events({
      topics: asked,
      signal,
      ...(job === null ? {} : { job: job.id }),
      ...(after === undefined ? {} : { after }),
    })
    for await (const event of stream) {
      if (event.type === 'hello') continue
      if (context.globals.json) context.jsonLine(event)
      else context.print(shown(context, event))
      count++
      if (count >= max) return exits.ok
    }
    return exits.ok
  },
})

function topicsOf(text: string): Topic[] {
  return text.split(',').map(word => {
    const topic = topics.find(one => one === word)
    if (topic !== undefined) return topic
    const hint = didYouMean(word, topics) ?? `topics: ${topics.join(', ')}`
    throw usage(`there is no topic ${word}`, hint)
  })
}

const styles = {
  completed: 'ok',
  failed: 'failed',
  cancelled: 'cancel',
  retrying: 'retry',
} as const

function shown(context: Context, { type, data }: CarillonEvent): string {
  const now = context.now()
  const clock = formatInZone(now - (now % 1_000), zoneFor(context.globals.tz))
    .split(' ')
    .slice(-2)
  const { job_name: name, status, duration_ms: ms, error_message: error, message, verb } = data
  const style = styles[status as keyof typeof styles] ?? 'wait'
  const words = [
    typeof name === 'string' ? name : '',
    typeof verb === 'string' ? verb : '',
    typeof status === 'string' ? context.screen.paint(style, status) : '',
    typeof ms === 'number' ? took(ms) : '',
    typeof message === 'string' ? message : '',
    typeof error === 'string' ? error : '',
    type === 'counts' || type === 'resync' ? JSON.stringify(data) : '',
  ]
  const text = words.filter(word => word !== '').join('  ')
  return `${clock.join(' ')}  ${type.padEnd(13)} ${text
    .split('\n')
    .map(line => safeKeep(line))
    .join(' ')}`
}

/** Our own colours stay. */
function safeKeep(text: string): string {
  return text.split(ESCAPE).map(safe).join(ESCAPE)
}
