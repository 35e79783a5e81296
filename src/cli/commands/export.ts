// `carillon export`: jobs as files for `apply`, as a crontab, or their coming runs as a calendar.

import { define, exits, type Flags } from '../command.ts'
import type { Context } from '../context.ts'
import type { Job, JobQuery } from '../../client/index.ts'
import { whole } from '../numbers.ts'
import { CliProblem, usage } from '../problem.ts'
import { readQuery } from '../query.ts'
import { safe } from '../screen.ts'
import { didYouMean } from '../../core/spec/suggest.ts'
import type { Lost } from '../../move/to-file.ts'

const formats = ['json', 'yaml', 'crontab', 'ics'] as const
type Format = (typeof formats)[number]
const filters = ['status', 'queue', 'handler', 'tenant', 'tag', 'name'] as const
const living = 'pending,scheduled,running,paused,failed'
const JOBS_MAX = 100_000

export const command = define({
  name: 'export',
  group: 'move',
  about: 'jobs as json, yaml, crontab or ics',
  args: [
    ['<format>', formats.join(', ')],
    ['[query...]', 'only these: words of the name, or tag:x queue:mail tenant:acme status:paused'],
  ],
  flags: [
    { flags: '-o, --output <file>', about: 'write to a file instead of the standard output' },
    { flags: '--app <label>', about: 'the label in json and yaml (default: that of the jobs)' },
    { flags: '--tenant <name>', about: 'of this tenant only' },
    { flags: '--days <n>', about: 'how far ics looks ahead (default 30)', parse: whole(1, 730) },
  ],
  examples: [
    ['carillon export yaml -o jobs.yaml', 'a file for carillon apply'],
    ['carillon export ics --days 14 -o runs.ics', 'the coming two weeks for a calendar'],
    ['carillon export crontab tag:nightly', 'back to cron'],
  ],
  notes: 'What a format cannot say is listed on the standard error. Ended jobs are left out.',
  run: async (context, [format, words], flags) => {
    if (!formats.includes(format as Format)) {
      const hint = didYouMean(format as string, formats) ?? `one of ${formats.join(', ')}`
      throw usage(`${format as string} is not a format`, hint)
    }
    const jobs = await read(context, (words ?? []) as string[], flags)
    const { text, lost } = await made(context, format as Format, jobs, flags)
    const output = flags['output'] as string | undefined
    if (output === undefined) context.terminal.out(text)
    else await write(output, text)
    for (const { name, text: what } of lost) context.say(safe(`! ${name}: ${what}`))
    const where = output === undefined ? '' : ` to ${output}`
    context.say(`${jobs.length} job${jobs.length === 1 ? '' : 's'} exported${where}`)
    return exits.ok
  },
})

async function read(context: Context, words: readonly string[], flags: Flags): Promise<Job[]> {
  const { by, search } = readQuery(words, filters)
  const { terminal, globals } = context
  const query: JobQuery = {
    limit: 250,
    sort: 'name',
    status: by['status'] ?? living,
    queue: by['queue'],
    handler: by['handler'],
    tenant: (flags['tenant'] as string | undefined) ?? by['tenant'],
    search: search ?? by['name'],
  }
  const client = await context.client()
  const jobs: Job[] = []
  let seen = 0
  const shows = terminal.isTerminal && !globals.isQuiet
  for await (const job of client.jobs.each(query, { signal: context.signal })) {
    seen++
    if (by['tag'] === undefined || job.tags.includes(by['tag'])) jobs.push(job)
    if (jobs.length > JOBS_MAX)
      throw usage(`more than ${JOBS_MAX} jobs`, 'narrow it by tenant or tag')
    if (shows && seen % 250 === 0) terminal.err(`\r${seen.toLocaleString('en')} jobs read`)
  }
  if (shows && seen >= 250) terminal.err('\r\u001b[2K')
  return jobs
}

interface Made {
  readonly text: string
  readonly lost: readonly Lost[]
}

async function made(
  context: Context,
  format: Format,
  jobs: readonly Job[],
  flags: Flags,
): Promise<Made> {
  switch (format) {
    case 'crontab':
      return (await import('../../move/to-crontab.ts')).toCrontab(jobs)
    case 'ics': {
      const days = (flags['days'] as number | undefined) ?? 30
      return (await import('../../move/to-ics.ts')).toIcs(jobs, { now: context.now(), days })
    }
    case 'json':
    case 'yaml': {
      const { toFile } = await import('../../move/to-file.ts')
      const { jobs: entries, lost } = toFile(jobs)
      const file = { ...headOf(jobs, flags), jobs: entries }
      if (format === 'json') return { text: `${JSON.stringify(file, null, 2)}\n`, lost }
      const { stringify } = await import('yaml')
      return { text: stringify(file, { lineWidth: 0, aliasDuplicateObjects: false }), lost }
    }
  }
}

function headOf(jobs: readonly Job[], flags: Flags): { app: string; tenant?: string } {
  const tenants = [...new Set(jobs.map(({ tenant }) => tenant))]
  if (tenants.length > 1) {
    throw usage(
      'these are jobs of several tenants',
      `give --tenant: ${tenants.slice(0, 10).join(', ')}`,
    )
  }
  const labels = [...new Set(jobs.map(job => job.declared_by))]
  const own = labels.length === 1 ? labels[0] : null
  const app = (flags['app'] as string | undefined) ?? own ?? 'exported'
  const [tenant] = tenants
  return { app, ...(tenant === undefined || tenant === 'default' ? {} : { tenant }) }
}

async function write(path: string, text: string): Promise<void> {
  const { writeFileSync } = await import('node:fs')
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new CliProblem(exits.failed, `${path} cannot be written`, (error as Error).message)
  }
}
