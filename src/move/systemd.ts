// A systemd timer and its service: when it fires, and the program it starts.

import type { JobBody } from '../client/types.ts'
import { DAY } from '../core/time.ts'
import { parseCron } from '../cron/index.ts'
import { cronFaultOf } from './crontab-fields.ts'
import { named, type Found, type Note, type RawJob } from './found.ts'
import { readCalendar, readSpan } from './systemd-calendar.ts'
import { Unit, unitWords, type Setting } from './systemd-unit.ts'

export interface TimerInput {
  /** Without its ending: `backup` of `backup.timer`. */
  readonly name: string
  readonly timer: string
  /** The text of the unit it starts; null when it was not found. */
  readonly service: string | null
  readonly zone: string
}

interface Reading {
  readonly input: TimerInput
  readonly notes: Note[]
  readonly unit: Unit
}

export function readTimer(input: TimerInput): Found {
  const notes: Note[] = []
  const unit = new Unit(input.timer)
  const reading = { input, notes, unit }
  const work = workOf(reading)
  if (work === null) return { jobs: [], notes }
  const shared = { ...work, ...sharedOf(reading) }
  const jobs: RawJob[] = triggersOf(reading).map(({ line, trigger, more }) => ({
    line,
    name: input.name,
    identity: input.name,
    body: { trigger, ...shared, ...more },
  }))
  if (jobs.length === 0 && notes.length === 0) {
    notes.push({ line: 1, text: 'there is no schedule', isConverted: false })
  }
  return { jobs: named(jobs), notes }
}

interface Timed {
  readonly line: number
  readonly trigger: NonNullable<JobBody['trigger']>
  readonly more?: JobBody
}

function triggersOf(reading: Reading): Timed[] {
  const { unit } = reading
  const timer = (key: string) => unit.all('Timer', key)
  const from = { OnUnitActiveSec: 'start', OnUnitInactiveSec: 'finish' } as const
  const found = timer('OnCalendar').flatMap(setting => calendarTrigger(reading, setting))
  for (const key of ['OnUnitActiveSec', 'OnUnitInactiveSec'] as const) {
    for (const { line, value } of timer(key)) {
      const ms = readSpan(value)
      if (ms === null || ms === 0) skip(reading, line, `cannot read ${key}=${value}`)
      else found.push({ line, trigger: { every: ms, from: from[key] } })
    }
  }
  for (const key of ['OnBootSec', 'OnStartupSec', 'OnActiveSec']) {
    for (const { line, value } of timer(key)) {
      const text = `${key}=${value}: a start is not a time; the job begins one interval after the import`
      reading.notes.push({ line, text, isConverted: found.length > 0 })
    }
  }
  return found
}

function calendarTrigger(reading: Reading, { line, value }: Setting): Timed[] {
  const read = readCalendar(value)
  if ('fault' in read) {
    skip(reading, line, `OnCalendar=${value}: ${read.fault}`)
    return []
  }
  const { input } = reading
  const timezone = read.zone ?? input.zone
  if ('cron' in read) {
    const fault = cronFaultOf(read.cron)
    if (fault !== null) {
      skip(reading, line, `OnCalendar=${value}: ${fault}`)
      return []
    }
    const isPersistent = /^(?:1|yes|true|on)$/i.test(valueOf(reading, 'Persistent') ?? '')
    const more: JobBody = { missed: isPersistent ? 'once' : 'skip' }
    return [{ line, trigger: { cron: read.cron, timezone }, more }]
  }
  const at = momentOf(read.wall, timezone)
  if (at !== null) return [{ line, trigger: { at }, more: { retry: { limit: 0 } } }]
  skip(reading, line, `OnCalendar=${value} does not exist in ${timezone}`)
  return []
}

/** Null for a day that does not exist. */
function momentOf(wall: string, zone: string): string | null {
  const [year, month, day, hour, minute, second] = wall.split(/\D/).map(Number)
  const expression = `${second} ${minute} ${hour} ${day} ${month} *`
  if (cronFaultOf(expression) !== null) return null
  const at = parseCron(expression, { zone }).next(Date.UTC(year!, month! - 1, day) - 2 * DAY)
  return at === null || at > Date.UTC(year!, month! - 1, day) + 2 * DAY
    ? null
    : new Date(at).toISOString()
}

function valueOf({ unit }: Reading, key: string): string | null {
  return unit.last('Timer', key)?.value ?? null
}

function skip({ notes }: Reading, line: number, text: string): void {
  notes.push({ line, text, isConverted: false })
}

/** A unit is never started twice, and a failed one waits for its next time. */
function sharedOf(reading: Reading): JobBody {
  const jitterMs = readSpan(valueOf(reading, 'RandomizedDelaySec') ?? '0') ?? 0
  return {
    overlap: 'skip',
    retry: { limit: 0, exhausted: 'next' },
    ...(jitterMs === 0 ? {} : { jitter_seconds: jitterMs / 1_000 }),
    tags: ['systemd'],
  }
}

/** Null when there is nothing to run. */
function workOf(reading: Reading): JobBody | null {
  const { input, notes } = reading
  if (input.service === null) {
    const unit = valueOf(reading, 'Unit') ?? `${input.name}.service`
    skip(reading, 1, `${unit} was not found beside the timer`)
    return null
  }
  const service = new Unit(input.service)
  const starts = service.all('Service', 'ExecStart')
  if (starts.length === 0) {
    skip(reading, 1, 'its service has no ExecStart')
    return null
  }
  const attention = (text: string) =>
    notes.push({ line: 1, text: `service: ${text}`, isConverted: true })
  for (const key of ['EnvironmentFile', 'ExecStartPre', 'ExecStartPost', 'LoadCredential']) {
    for (const { value } of service.all('Service', key)) attention(`${key}=${value} is left out`)
  }
  const user = service.last('Service', 'User')
  if (user) attention(`User=${user.value}: a command runs as the user of the node`)
  if (starts.some(({ value }) => /%[a-zA-Z]|\$/.test(value))) {
    attention('ExecStart has specifiers or variables that only systemd fills in: please check')
  }
  return { action: actionOf(service, starts), timeout_seconds: timeoutOf(service) }
}

function actionOf(service: Unit, starts: readonly Setting[]): NonNullable<JobBody['action']> {
  // Signs before the path are for systemd alone.
  const lines = starts.map(({ value }) => value.replace(/^[-@:+!|]+/, ''))
  const env = service.all('Service', 'Environment').flatMap(({ value }) => unitWords(value))
  const pairs = env.map(pair => [pair.split('=', 1)[0]!, pair.slice(pair.indexOf('=') + 1)])
  const cwd = service.last('Service', 'WorkingDirectory')?.value.replace(/^-/, '')
  return {
    kind: 'command',
    ...(lines.length === 1 ? { argv: unitWords(lines[0]!) } : { shell: lines.join(' && ') }),
    ...(cwd === undefined || !cwd.startsWith('/') ? {} : { cwd }),
    ...(pairs.length === 0 ? {} : { env: Object.fromEntries(pairs) as Record<string, string> }),
  }
}

function timeoutOf(service: Unit): number | null {
  const value =
    service.last('Service', 'TimeoutStartSec') ?? service.last('Service', 'RuntimeMaxSec')
  const ms = value === null ? null : readSpan(value.value)
  return ms === null || ms === 0 ? null : ms / 1_000
}
