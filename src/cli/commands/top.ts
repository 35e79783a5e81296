// `carillon top`: what runs, waits and comes next, as it changes.

import process from 'node:process'
import { parseDuration } from '../../core/time.ts'
import { InvalidArgumentError } from 'commander'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { snapshotOf } from '../top/data.ts'
import { frameOf, type Row } from '../top/frame.ts'

const EVERY_MS = 1_000

function every(text: string): number {
  const ms = parseDuration(text)
  if (ms !== null && ms >= 200 && ms <= 60_000) return ms
  throw new InvalidArgumentError('must be a duration from 200ms to 1m')
}

export const command = define({
  name: 'top',
  group: 'look',
  about: 'what runs, waits and comes next, as it changes',
  flags: [
    { flags: '--every <duration>', about: 'how often it looks (default 1s)', parse: every },
    { flags: '--once', about: 'print one picture; so it is without a terminal' },
  ],
  examples: [
    ['carillon top', 'keys: ↑ ↓ choose, p pause, r run, c cancel, / filter, q quit'],
    ['carillon top --once --json', 'for a program'],
  ],
  run: async (context, _words, flags) => {
    const client = await context.client()
    const { globals, screen, signal } = context
    const isLive = process.stdout.isTTY && process.stdin.isTTY && !globals.json
    if (!isLive || flags['once'] === true) {
      const snapshot = await snapshotOf(client, signal)
      if (globals.json) {
        context.json(snapshot)
        return exits.ok
      }
      const view = { now: context.now(), tz: globals.tz, filter: '', selected: -1, message: '' }
      context.print(frameOf(snapshot, { ...view, height: 1_000 }, screen).join('\n'))
      return exits.ok
    }
    const { LiveTop } = await import('../top/live.ts')
    const everyMs = (flags['every'] as number | undefined) ?? EVERY_MS
    await new LiveTop(context, everyMs, (row, verb) => act(context, row, verb)).run()
    return exits.ok
  },
})

async function act(context: Context, row: Row, verb: 'pause' | 'run' | 'cancel'): Promise<string> {
  const client = await context.client()
  const { signal } = context
  switch (verb) {
    case 'pause':
      await client.bulk({ action: 'pause', ids: [row.jobId], note: 'from top' }, { signal })
      return `${row.jobName} is paused, after its run if there is one`
    case 'run': {
      const { run_id } = await client.jobs.run(row.jobId, {}, { signal })
      return `run ${run_id} of ${row.jobName} is queued`
    }
    case 'cancel':
      if (row.runId === null) return 'nothing runs there'
      await client.runs.cancel(row.runId, { reason: 'from top' }, { signal })
      return `cancelled the run of ${row.jobName}`
  }
}
