// `carillon next`: when an expression or a job fires, in its zone, yours and UTC. An expression is
// explained without asking anyone.

import process from 'node:process'
import type { CronPreview } from '../../client/index.ts'
import { CronError, formatInZone, parseCron, zoneTransitions, type Cron } from '../../cron/index.ts'
import { DAY, iso, type Instant } from '../../core/time.ts'
import { define, exits, type Flags } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob } from '../find.ts'
import { scheduleOf } from '../job-words.ts'
import { changeLines, momentsOf, nextRows, type NextRow } from '../moments.ts'
import { momentOf, whole } from '../numbers.ts'
import { CliProblem } from '../problem.ts'
import type { Column } from '../table.ts'
import { away, shortMoment, zoneFor } from '../times.ts'

const YEAR = 366 * DAY

export const command = define({
  name: 'next',
  group: 'look',
  about: 'when an expression or a job fires, with what clock changes do to it',
  args: [['<cron-or-job>', "an expression such as '30 2 * * *', or the name or id of a job"]],
  flags: [
    { flags: '-n, --count <n>', about: 'how many moments (default 5)', parse: whole(1, 100) },
    {
      flags: '--tz <zone>',
      about: 'the zone of the expression (default UTC, as in add); for a job, yours',
    },
    { flags: '--from <moment>', about: 'from then on, such as 2027-03-26 (default now)' },
    { flags: '--dialect <name>', about: 'how it is read', choices: ['extended', 'posix'] },
    {
      flags: '--gap <rule>',
      about: 'a local time that does not exist',
      choices: ['shift', 'skip'],
    },
    { flags: '--fold <rule>', about: 'a local time that exists twice', choices: ['first', 'both'] },
  ],
  isTable: true,
  hasOwnZone: true,
  examples: [
    ["carillon next '30 2 * * *' --tz Europe/Berlin --from 2027-03-26", 'around a clock change'],
    ['carillon next email.digest -n 10', 'the next ten of a job'],
  ],
  run: async (context, [typed], flags) => {
    const text = typed as string
    const isCron = /\s/.test(text.trim()) || text.startsWith('@')
    return isCron ? ofExpression(context, text, flags) : ofJob(context, text, flags)
  },
})

function ofExpression(context: Context, text: string, flags: Flags): Promise<number> {
  // The zone of a job that is added with the same expression.
  const tz = zoneFor((flags['tz'] as string | undefined) ?? 'UTC')
  const dst = {
    ...(flags['gap'] === undefined ? {} : { gap: flags['gap'] as 'shift' | 'skip' }),
    ...(flags['fold'] === undefined ? {} : { fold: flags['fold'] as 'first' | 'both' }),
  }
  const dialect = (flags['dialect'] as 'extended' | 'posix' | undefined) ?? 'extended'
  return Promise.resolve(
    shown(context, compiled(text, { zone: tz, dialect, dst }), flags, { viewer: 'system' }),
  )
}

type CronOptions = NonNullable<Parameters<typeof parseCron>[1]>

function compiled(text: string, options: CronOptions): Cron {
  try {
    return parseCron(text, options)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const { field, reason, column, hint } = error
    const place = column === null ? '' : `\n  ${text}\n  ${' '.repeat(column - 1)}^`
    const where = field === null ? '' : `${field}: `
    throw new CliProblem(exits.usage, `not a cron expression: ${where}${reason}${place}`, hint)
  }
}

function shown(context: Context, cron: Cron, flags: Flags, { viewer }: { viewer: string }): number {
  const from = fromOf(context, flags)
  const count = (flags['count'] as number | undefined) ?? 5
  if (context.globals.json) {
    context.json(previewOf(cron, from, { count, now: from }))
    return exits.ok
  }
  const rows = nextRows(cron, { from, count, viewer })
  const text = context.format(columnsOf(rows), rows)
  if (!context.globals.plain) {
    context.print(`${cron.describe()} · tzdata ${process.versions['tz'] ?? 'unknown'}`)
  }
  context.terminal.out(text)
  if (context.globals.plain) return exits.ok
  for (const line of changeLines(cron, from)) context.print(`DST  ${line}`)
  for (const { message } of cron.lints()) context.say(`note: ${message}`)
  return exits.ok
}

/** A moment that is due exactly then belongs to it. */
function fromOf(context: Context, flags: Flags): Instant {
  const given = flags['from'] as string | undefined
  return given === undefined ? context.now() : momentOf('--from', given, context.now()) - 1
}

function columnsOf(rows: readonly NextRow[]): readonly Column<NextRow>[] {
  const isSame = rows.every(row => row.local.replace(/ \d{4} /, ' ') === row.viewer)
  const columns: readonly Column<NextRow>[] = [
    { key: 'n', title: '#', value: row => String(row.n), isRight: true, min: 1 },
    { key: 'local', title: 'SCHEDULE', value: row => row.local, min: 24 },
    { key: 'viewer', title: 'YOURS', value: row => row.viewer, drop: 2, isExtra: isSame },
    { key: 'utc', title: 'UTC', value: row => row.utc, drop: 1 },
    { key: 'gap', title: 'AFTER', value: row => row.gap, drop: 3, isRight: true },
    { key: 'note', title: 'NOTE', value: row => row.note, style: () => 'retry' },
  ]
  return rows.some(row => row.note !== '') ? columns : columns.filter(({ key }) => key !== 'note')
}

/** The same resource as `POST /api/v1/cron/preview` with one zone. */
export function previewOf(
  cron: Cron,
  from: Instant,
  { count, now }: { readonly count: number; readonly now: Instant },
): CronPreview {
  const moments = momentsOf(cron, from, count)
  return {
    cron: cron.expression,
    canonical: cron.canonical,
    dialect: cron.dialect,
    lints: cron.lints().map(({ code, message }) => ({ code, message })),
    zones: [
      {
        timezone: cron.zone,
        description: cron.describe(),
        dst: { ...cron.dst },
        next: moments.map((at, i) => ({
          at: iso(at),
          local: formatInZone(at, cron.zone),
          in_ms: at - now,
          gap_ms: i === 0 ? null : at - moments[i - 1]!,
          note: cron.note(at),
        })),
        transitions: zoneTransitions(cron.zone, from, from + YEAR)
          .slice(0, 2)
          .map(({ at, offsetBeforeMs, offsetAfterMs }) => ({
            at: iso(at),
            before: formatInZone(at - 1_000, cron.zone),
            after: formatInZone(at, cron.zone),
            change_ms: offsetAfterMs - offsetBeforeMs,
          })),
      },
    ],
    compare: null,
  }
}

async function ofJob(context: Context, typed: string, flags: Flags): Promise<number> {
  const client = await context.client()
  const { signal, globals } = context
  const job = await findJob(client, typed, signal)
  const viewer = zoneFor((flags['tz'] as string | undefined) ?? 'local')
  const { cron, timezone, dialect, dst } = job.trigger
  if (typeof cron === 'string' && flags['from'] !== undefined && !globals.json) {
    const options = { zone: timezone as string, dialect: dialect as 'posix', dst: dst ?? {} }
    return shown(context, compiled(cron, options), flags, { viewer })
  }
  const count = (flags['count'] as number | undefined) ?? 5
  const answer = await client.jobs.upcoming(job.id, count, { signal })
  if (globals.json) {
    context.json(answer)
    return exits.ok
  }
  if (answer.upcoming.length === 0) {
    context.say(`${job.name} has no next moment: carillon why ${job.name}`)
    return exits.ok
  }
  const now = context.now()
  if (!globals.plain) context.print(`${job.name} · ${scheduleOf(job)}`)
  context.rows(
    [
      {
        key: 'local',
        title: 'SCHEDULE',
        value: row => formatInZone(Date.parse(row.at), row.timezone),
        min: 24,
      },
      {
        key: 'viewer',
        title: 'YOURS',
        value: row => shortMoment(Date.parse(row.at), now, viewer),
        drop: 2,
      },
      { key: 'utc', title: 'UTC', value: row => row.at.replace('.000Z', 'Z'), drop: 1 },
      { key: 'away', title: 'IN', value: row => away(Date.parse(row.at), now), drop: 3 },
      {
        key: 'note',
        title: 'NOTE',
        value: row => row.note ?? (row.is_estimate ? 'about' : ''),
        style: () => 'retry',
      },
    ],
    answer.upcoming,
  )
  return exits.ok
}
