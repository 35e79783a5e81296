// `carillon import`: jobs from crontabs, systemd timers and CronJobs, and cron times made intervals.

import { basename } from 'node:path'
import { addTo, exits, type CliCommand, type Flags, type FlagSpec } from '../command.ts'
import type { Context } from '../context.ts'
import { usage } from '../problem.ts'
import { safe } from '../screen.ts'
import { groups } from '../spec.ts'
import type { Found } from '../../move/found.ts'
import { readText } from '../payload.ts'

const shared: readonly FlagSpec[] = [
  { flags: '--app <label>', about: 'the label they are known by when imported again' },
  {
    flags: '--intervals',
    about: 'make intervals of expressions that mean the same; list the rest',
  },
  { flags: '--prune', about: 'archive what this import left before and is no longer there' },
  { flags: '--queue <name>', about: 'the line they wait in' },
  { flags: '--tenant <name>', about: 'whose they are, for those who see every tenant' },
]
const zoneFlag = (about: string): FlagSpec => ({ flags: '--tz <zone>', about })
const move = { group: 'move', isMutation: true, hasOwnZone: true } as const
const notes =
  'Importing again changes what changed and leaves the rest. Commands run on nodes that are started ' +
  'with --allow-commands. Exit code 8: some lines were not converted.'

export const command: CliCommand = {
  add: program => {
    const parent = program
      .command('import')
      .description('take over jobs from crontabs, systemd timers and CronJobs')
      .helpGroup(groups.move)
    addCrontab(parent)
    addSystemd(parent)
    addK8s(parent)
    addIntervals(parent)
  },
}

function addCrontab(parent: Parameters<CliCommand['add']>[0]): void {
  addTo(parent, {
    ...move,
    name: 'crontab',
    about: 'the lines of a crontab',
    args: [['[file]', 'a file, or - for the standard input; yours (crontab -l) by default']],
    flags: [
      { flags: '--system', about: 'lines name their user (default for /etc/crontab, /etc/cron.d)' },
      zoneFlag('the zone cron runs in (default: that of this machine)'),
      ...shared,
    ],
    examples: [
      ['carillon import crontab --dry-run', 'see what would become of your crontab'],
      ['carillon import crontab --system /etc/crontab --tz Europe/Berlin', 'that of the machine'],
      ['ssh web1 crontab -l | carillon import crontab - --app web1', 'that of another machine'],
    ],
    notes,
    run: async (context, [file], flags) => {
      const { crontabText, isSystemCrontab } = await import('../moving/sources.ts')
      const { readCrontab } = await import('../../move/crontab.ts')
      const path = file as string | undefined
      const { name, text } = crontabText(path)
      const isSystem = flags['system'] === true || isSystemCrontab(path)
      const found = readCrontab(text, { zone: zoneOf(flags, null), isSystem })
      const app = name === '' ? 'crontab' : `crontab:${name}`
      return run(context, flags, found, { app, source: path ?? 'crontab' })
    },
  })
}

function addSystemd(parent: Parameters<CliCommand['add']>[0]): void {
  addTo(parent, {
    ...move,
    name: 'systemd',
    about: 'systemd timers with their services',
    args: [['[paths...]', 'timer files or folders with them (default /etc/systemd/system)']],
    flags: [zoneFlag('the zone of the machine (default: that of this one)'), ...shared],
    examples: [
      ['carillon import systemd --dry-run', 'the timers of this machine'],
      ['carillon import systemd backup.timer', 'one; its service lies beside it'],
    ],
    notes,
    run: async (context, [given], flags) => {
      const { timerTexts } = await import('../moving/sources.ts')
      const { readTimer } = await import('../../move/systemd.ts')
      const paths = (given ?? []) as string[]
      const zone = zoneOf(flags, null)
      const read = timerTexts(paths.length === 0 ? ['/etc/systemd/system'] : paths).map(unit => {
        const { jobs, notes: told } = readTimer({ ...unit, zone })
        const file = basename(unit.path)
        return { jobs, notes: told.map(note => ({ ...note, text: `${file}: ${note.text}` })) }
      })
      const found = {
        jobs: read.flatMap(({ jobs }) => jobs),
        notes: read.flatMap(({ notes: told }) => told),
      }
      return run(context, flags, found, { app: 'systemd', source: 'unit' })
    },
  })
}

function addK8s(parent: Parameters<CliCommand['add']>[0]): void {
  addTo(parent, {
    ...move,
    name: 'k8s',
    about: 'CronJobs of Kubernetes',
    args: [['<file>', 'manifests as YAML or JSON, or - for the standard input']],
    flags: [zoneFlag('the zone of those that name none (default UTC)'), ...shared],
    examples: [
      ['kubectl get cronjobs -A -o yaml | carillon import k8s - --dry-run', 'those of a cluster'],
      ['carillon import k8s cronjob.yaml', 'one file'],
    ],
    notes,
    run: async (context, [file], flags) => {
      const { readCronJobs } = await import('../../move/k8s.ts')
      const found = readCronJobs(readText(file as string), { zone: zoneOf(flags, 'UTC') })
      return run(context, flags, found, { app: 'k8s', source: file as string })
    },
  })
}

function addIntervals(parent: Parameters<CliCommand['add']>[0]): void {
  addTo(parent, {
    name: 'intervals',
    group: 'move',
    isMutation: true,
    about: 'give stored crawl jobs with a cron time the interval that means the same',
    examples: [
      ['carillon import intervals --dry-run', 'which would be converted, and which need a look'],
    ],
    run: async context => {
      const { globals, signal } = context
      const client = await context.client()
      const seen = await client.jobs.fromCron({ apply: false }, { signal })
      const isMeant =
        globals.isDryRun ||
        seen.converted.length === 0 ||
        (await context.confirm(`Give ${seen.converted.length} jobs an interval?`))
      if (!isMeant) return exits.failed
      const answer = globals.isDryRun
        ? seen
        : await client.jobs.fromCron({ apply: true }, { signal })
      context.show(answer, () =>
        [
          ...answer.converted.map(one => {
            const every = `every ${one.interval_minutes} ${one.interval_type}`
            return `  ~ ${safe(one.id)}  ${one.schedule_time} → ${every}`
          }),
          ...answer.review.map(one => `  ! ${safe(one.id)}  ${one.schedule_time}: ${one.reason}`),
        ].join('\n'),
      )
      context.say(
        `${answer.converted.length} ${globals.isDryRun ? 'to convert' : 'converted'}, ` +
          `${answer.review.length} to review${answer.is_complete ? '' : '; run it again for the rest'}`,
      )
      return exits.ok
    },
  })
}

/** `fallback` null means the zone of this machine. */
function zoneOf(flags: Flags, fallback: string | null): string {
  const given = flags['tz'] as string | undefined
  return given ?? fallback ?? Intl.DateTimeFormat().resolvedOptions().timeZone
}

async function run(
  context: Context,
  flags: Flags,
  found: Found,
  { app, source }: { readonly app: string; readonly source: string },
): Promise<number> {
  const { isZone } = await import('../../cron/index.ts')
  const { importJobs } = await import('../moving/import.ts')
  const tz = flags['tz'] as string | undefined
  if (tz !== undefined && !isZone(tz))
    throw usage(`${tz} is not a time zone`, 'such as Europe/Berlin')
  const { withIntervals } = await import('../../move/intervals.ts')
  const made = flags['intervals'] === true ? withIntervals(found.jobs, context.now()) : null
  return importJobs(context, {
    jobs: made?.jobs ?? found.jobs,
    notes: [...found.notes, ...(made?.notes ?? [])].toSorted((a, b) => a.line - b.line),
    app: (flags['app'] as string | undefined) ?? app,
    tenant: flags['tenant'] as string | undefined,
    queue: flags['queue'] as string | undefined,
    prunes: flags['prune'] === true,
    source,
  })
}
