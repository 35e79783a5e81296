// Stored jobs as a crontab: those that are a command at minutes cron can name. What cron does not
// do, such as trying again, is said for each.

import type { Job } from '../client/types.ts'
import { DAY, HOUR, MINUTE } from '../core/time.ts'
import { readFields } from './crontab-fields.ts'
import type { TriggerBody } from './moments.ts'
import type { Lost } from './to-file.ts'

interface Line {
  readonly zone: string
  readonly name: string
  readonly text: string
}

export function toCrontab(jobs: readonly Job[]): {
  readonly text: string
  readonly lost: readonly Lost[]
} {
  const lines: Line[] = []
  const lost: Lost[] = []
  for (const job of jobs) {
    const when = whenOf(job)
    const what = commandOf(job)
    const fault = 'fault' in when ? when.fault : 'fault' in what ? what.fault : null
    if (fault !== null || 'fault' in when || 'fault' in what) {
      lost.push({ name: job.name, text: `left out: ${fault}` })
      continue
    }
    lines.push({ zone: when.zone, name: job.name, text: `${when.cron} ${what.command}` })
    const more = [...policiesOf(job), ...when.notes, ...what.notes]
    if (more.length > 0) lost.push({ name: job.name, text: `cron has no ${more.join(', ')}` })
  }
  const zones = [...new Set(lines.map(({ zone }) => zone))].toSorted()
  const parts = zones.flatMap(zone => [
    `CRON_TZ=${zone}`,
    ...lines
      .filter(line => line.zone === zone)
      .flatMap(({ name, text }) => [`# name: ${name}`, text]),
  ])
  return { text: parts.map(line => `${line}\n`).join(''), lost }
}

type When =
  | { readonly zone: string; readonly cron: string; readonly notes: readonly string[] }
  | { readonly fault: string }

function whenOf(job: Job): When {
  const trigger = job.trigger as TriggerBody
  if (job.is_paused) return { fault: 'it is paused' }
  if ('cron' in trigger) return cronOf(trigger.cron, trigger.timezone ?? 'UTC')
  if (!('every' in trigger)) return { fault: 'it has no schedule cron can name' }
  if (trigger.from !== undefined && trigger.from !== 'schedule') {
    return { fault: `it counts from the ${trigger.from} of its runs` }
  }
  const phase = Date.parse(trigger.anchor ?? job.next_run_at ?? '') || 0
  const cron = everyOf(Number(trigger.every), phase)
  if (cron === null) return { fault: `every ${Number(trigger.every) / 1_000} s is no cron` }
  const notes = phase % MINUTE === 0 ? [] : ['seconds: it starts with the minute']
  return { zone: 'UTC', cron, notes }
}

const macros = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/i

function cronOf(expression: string, zone: string): When {
  const fields = expression.trim().split(/\s+/)
  if (fields.length === 1 && macros.test(expression)) return { zone, cron: expression, notes: [] }
  if (fields.length === 6 && fields[0] !== '0') return { fault: 'cron has no seconds' }
  const five = fields.slice(-5).map(field => (field === '?' ? '*' : field))
  const cron = five.join(' ')
  if (/[LW#]/.test(`${five[2]} ${five[4]!.replaceAll(/[a-z]{3}/gi, '')}`)) {
    return { fault: `${expression} names days cron cannot` }
  }
  const read = readFields(`${cron} x`)
  return 'fault' in read ? { fault: read.fault } : { zone, cron, notes: [] }
}

const stepped = (step: number, at: number, max: number) =>
  step === 1 ? '*' : at % step === 0 ? `*/${step}` : `${at % step}-${max}/${step}`

/** In UTC, from the moments it has now. */
function everyOf(everyMs: number, phase: number): string | null {
  const minute = Math.floor(phase / MINUTE) % 60
  const hour = Math.floor(phase / HOUR) % 24
  if (everyMs % MINUTE !== 0 || everyMs > DAY) return null
  if (everyMs < HOUR) {
    const step = everyMs / MINUTE
    return 60 % step === 0 ? `${stepped(step, minute, 59)} * * * *` : null
  }
  const hours = everyMs / HOUR
  if (hours === 24) return `${minute} ${hour} * * *`
  return 24 % hours === 0 ? `${minute} ${stepped(hours, hour, 23)} * * *` : null
}

type What =
  | { readonly command: string; readonly notes: readonly string[] }
  | { readonly fault: string }

interface CommandAction {
  readonly kind: string
  readonly shell?: string
  readonly argv?: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

function commandOf(job: Job): What {
  if (job.action === null) return { fault: `the handler ${job.handler} is code` }
  const { kind, shell, argv, cwd, env = {}, stdin } = job.action as unknown as CommandAction
  if (kind !== 'command') return { fault: `${kind} is no command` }
  const line = shell ?? (argv ?? []).map(quoted).join(' ')
  if (/[\r\n]/.test(line)) return { fault: 'its command has several lines' }
  // Where cron starts it anyway.
  const placed = cwd === undefined || cwd === '~' ? line : `cd ${quoted(cwd)} && ${line}`
  const input =
    stdin === undefined ? '' : `%${stdin.replace(/\n$/, '').split('\n').map(escaped).join('%')}`
  const names = Object.keys(env).filter(name => name !== 'SHELL')
  const notes = names.length === 0 ? [] : [`values to read for ${names.join(', ')}`]
  return { command: `${escaped(placed)}${input}`, notes }
}

const escaped = (text: string) => text.replaceAll('%', String.raw`\%`)

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Everything a job was told that cron does not do. */
function policiesOf(job: Job): string[] {
  const retries = (job.retry as { readonly limit?: number | null }).limit
  return [
    ...(retries === 0 ? [] : ['retries']),
    ...(job.overlap === 'allow' ? [] : ['rule for overlaps']),
    ...(job.missed === 'skip' ? [] : ['catching up']),
    ...(job.timeout_seconds === null ? [] : ['time limit']),
    ...(job.jitter_seconds === 0 ? [] : ['jitter']),
    ...(job.run_limit === null && job.end_at === null ? [] : ['end']),
  ]
}
