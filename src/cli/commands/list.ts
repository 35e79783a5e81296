// `carillon list`: the jobs, what comes next and what came last.

import type { Heartbeats, Job, JobQuery } from '../../client/index.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { heartbeatBar, p95Of } from '../heartbeat.ts'
import {
  lastOf,
  markedStatus,
  markOf,
  needsAttention,
  nextOf,
  scheduleOf,
  styleOf,
} from '../job-words.ts'
import { whole } from '../numbers.ts'
import { readQuery } from '../query.ts'
import type { Column } from '../table.ts'
import { took } from '../times.ts'

const filters = ['status', 'queue', 'handler', 'tenant', 'tag', 'name'] as const
const ALL_MAX = 10_000
/** Written out: whoever formats a number has all of Intl loaded, and this is read at every start. */
const ALL_MAX_SHOWN = '10,000'
/** Wide enough for the marks of the last runs. */
const WIDE = 150
const AT_ONCE = 50

type Slots = Heartbeats['heartbeats'][number]['slots']

export const command = define({
  name: 'list',
  alias: 'ls',
  group: 'look',
  about: 'the jobs, what comes next and what came last',
  args: [['[query...]', 'words of the name, or status:paused,failed queue:mail tenant:acme tag:x']],
  flags: [
    { flags: '--status <names>', about: 'only these, such as paused,failed' },
    {
      flags: '--sort <field>',
      about: 'created_at, updated_at, next_run_at, name, status, priority',
    },
    { flags: '--limit <n>', about: 'how many (default 50)', parse: whole(1, 250) },
    { flags: '--all', about: `page through all of them, up to ${ALL_MAX_SHOWN}` },
  ],
  isTable: true,
  examples: [
    ['carillon list', 'every job'],
    ['carillon list status:failed,paused digest', 'those that stand still, by a word of the name'],
    ['carillon list --json --all', 'for a program'],
  ],
  run: async (context, [words], flags) => {
    const { by, search } = readQuery((words ?? []) as string[], filters)
    const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : by[name])
    const query: JobQuery = {
      limit: (flags['limit'] as number | undefined) ?? 50,
      status: text('status'),
      sort: text('sort'),
      queue: by['queue'],
      handler: by['handler'],
      tenant: by['tenant'],
      search: search ?? by['name'],
    }
    const list = await read(context, query, flags['all'] === true)
    const tag = by['tag']
    const jobs = tag === undefined ? list.jobs : list.jobs.filter(job => job.tags.includes(tag))
    if (context.globals.json) {
      context.json(tag === undefined ? list : { ...list, jobs, total: jobs.length })
      return exits.ok
    }
    await shown(context, jobs)
    if (!context.globals.plain) tell(context, jobs, list.total)
    return exits.ok
  },
})

async function read(context: Context, query: JobQuery, isAll: boolean) {
  const client = await context.client()
  const { signal } = context
  const first = await client.jobs.list(isAll ? { ...query, limit: 250 } : query, { signal })
  if (!isAll) return first
  const jobs = [...first.jobs]
  let { next_cursor } = first
  while (next_cursor !== null && jobs.length < ALL_MAX) {
    const page = await client.jobs.list({ ...query, limit: 250, cursor: next_cursor }, { signal })
    jobs.push(...page.jobs)
    next_cursor = page.next_cursor
  }
  return { ...first, jobs, limit: jobs.length, next_cursor }
}

async function shown(context: Context, jobs: readonly Job[]): Promise<void> {
  const { globals, screen } = context
  const now = context.now()
  const wanted = globals.columns ?? ((screen.width ?? 0) >= WIDE ? ['last30'] : [])
  const needsPast = ['last30', 'p95', 'late'].some(key => wanted.includes(key))
  const past = needsPast ? await pasts(context, jobs) : new Map<string, Slots>()
  const slots = (job: Job) => past.get(job.id) ?? []
  const isExtra = past.size === 0
  const columns: readonly Column<Job>[] = [
    {
      key: 'mark',
      title: '',
      value: job => markOf(markedStatus(job), screen),
      style: job => styleOf(markedStatus(job)),
      min: 1,
    },
    { key: 'name', title: 'NAME', value: job => job.name, min: 12 },
    { key: 'tenant', title: 'TENANT', value: job => job.tenant, isExtra: true },
    { key: 'schedule', title: 'SCHEDULE', value: scheduleOf, min: 12 },
    { key: 'next', title: 'NEXT', value: job => nextOf(job, now, globals.tz), min: 20 },
    { key: 'last', title: 'LAST', value: job => lastOf(job, now, screen), drop: 1 },
    {
      key: 'last30',
      title: 'LAST 30',
      value: job => heartbeatBar(slots(job), screen),
      isExtra,
      drop: 4,
    },
    {
      key: 'p95',
      title: 'P95',
      value: job => took(p95Of(slots(job), 'duration_ms')),
      isExtra,
      drop: 2,
      isRight: true,
    },
    {
      key: 'late',
      title: 'LATE',
      value: job => took(p95Of(slots(job), 'late_ms')),
      isExtra,
      drop: 3,
      isRight: true,
    },
    { key: 'queue', title: 'QUEUE', value: job => job.queue, isExtra: true },
  ]
  context.rows(columns, jobs)
}

async function pasts(context: Context, jobs: readonly Job[]): Promise<Map<string, Slots>> {
  const client = await context.client()
  const found = new Map<string, Slots>()
  for (let at = 0; at < jobs.length; at += AT_ONCE) {
    const ids = jobs.slice(at, at + AT_ONCE).map(({ id }) => id)
    const { heartbeats } = await client.heartbeats(ids, 30, { signal: context.signal })
    for (const { job_id, slots } of heartbeats) found.set(job_id, slots)
  }
  return found
}

function tell(context: Context, jobs: readonly Job[], total: number): void {
  const more = total > jobs.length ? ` of ${total.toLocaleString('en')} (--all for the rest)` : ''
  const bad = jobs.filter(needsAttention)
  const attention =
    bad.length === 0
      ? ''
      : ` · ${bad.length} need${bad.length === 1 ? 's' : ''} attention: carillon why ${bad[0]!.name}`
  context.say(`${jobs.length} job${jobs.length === 1 ? '' : 's'}${more}${attention}`)
}
