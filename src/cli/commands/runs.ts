// `carillon runs`: what became of every occurrence, across jobs or of one.

import type { Run, RunQuery } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob } from '../find.ts'
import { markOf, styleOf } from '../job-words.ts'
import { momentOf, whole } from '../numbers.ts'
import { readQuery } from '../query.ts'
import type { Column } from '../table.ts'
import { away, took } from '../times.ts'

const filters = ['job', 'status', 'queue', 'handler', 'tenant'] as const

export const command = define({
  name: 'runs',
  group: 'look',
  about: 'what became of every occurrence: running, queued, then the newest',
  args: [['[query...]', 'a job, or status:failed queue:mail tenant:acme job:email.digest']],
  flags: [
    { flags: '--status <names>', about: 'only these, such as failed,retrying' },
    { flags: '--since <moment>', about: 'finished since, such as 2026-11-01' },
    { flags: '--until <moment>', about: 'finished before' },
    { flags: '--limit <n>', about: 'how many (default 50)', parse: whole(1, 250) },
    { flags: '--cursor <text>', about: 'goes on where a page ended' },
  ],
  isTable: true,
  examples: [
    ['carillon runs', 'the newest of all jobs'],
    ['carillon runs email.digest status:failed', 'the failed ones of a job'],
    ['carillon runs --since 2026-11-01 --json', 'for a program'],
  ],
  run: async (context, [words], flags) => {
    const client = await context.client()
    const { signal, globals } = context
    const { by, search } = readQuery((words ?? []) as string[], filters)
    const named = by['job'] ?? search
    const job = named === undefined || named === null ? null : await findJob(client, named, signal)
    const now = context.now()
    const moment = (name: string) =>
      typeof flags[name] === 'string'
        ? new Date(momentOf(`--${name}`, flags[name], now)).toISOString()
        : undefined
    const query: RunQuery = {
      limit: (flags['limit'] as number | undefined) ?? 50,
      cursor: flags['cursor'] as string | undefined,
      status: (flags['status'] as string | undefined) ?? by['status'],
      queue: by['queue'],
      handler: by['handler'],
      tenant: by['tenant'],
      since: moment('since'),
      until: moment('until'),
      job: job?.id,
    }
    const list = await client.runs.list(query, { signal })
    if (globals.json) {
      context.json(list)
      return exits.ok
    }
    context.rows(columnsOf(context), list.runs)
    if (!globals.plain && list.next_cursor !== null) {
      context.say(`more: --cursor ${list.next_cursor}`)
    }
    return exits.ok
  },
})

function tryOf({ attempts, attempts_max }: Run): string {
  return attempts_max === null ? String(attempts) : `${attempts}/${attempts_max}`
}

function columnsOf(context: Context): readonly Column<Run>[] {
  const { screen } = context
  const now = context.now()
  return [
    {
      key: 'status',
      title: 'STATUS',
      value: run => `${markOf(run.status, screen)} ${run.status}`,
      style: run => styleOf(run.status),
      min: 10,
    },
    { key: 'job', title: 'JOB', value: run => run.job_name, min: 12 },
    { key: 'when', title: 'SCHEDULED', value: run => away(Date.parse(run.scheduled_for), now) },
    { key: 'late', title: 'LATE', value: run => took(run.late_ms), isRight: true, drop: 3 },
    { key: 'took', title: 'TOOK', value: run => took(run.duration_ms), isRight: true, drop: 2 },
    { key: 'attempt', title: 'TRY', value: run => tryOf(run), drop: 4 },
    { key: 'origin', title: 'BY', value: run => run.origin, drop: 5 },
    {
      key: 'error',
      title: 'ERROR',
      value: run => run.error_message ?? run.reason ?? '',
      drop: 1,
    },
    { key: 'id', title: 'ID', value: run => run.id, min: 38 },
  ]
}
