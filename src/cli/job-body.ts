// From the flags of `add` and `edit` to the body of a job, as the HTTP API takes it.

import type { JobBody } from '../client/index.ts'
import { parseDuration } from '../core/time.ts'
import type { FlagSpec, Flags } from './command.ts'
import { whole } from './numbers.ts'
import { payloadOf, readText } from './payload.ts'
import { usage } from './problem.ts'

const gather = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text]

export const bodyFlags: readonly FlagSpec[] = [
  { flags: '--cron <expression>', about: "when: a cron expression such as '0 7 * * 1-5'" },
  { flags: '--tz <zone>', about: 'the zone of the expression (default UTC)' },
  { flags: '--dialect <name>', about: 'how it is read', choices: ['extended', 'posix'] },
  { flags: '--every <duration>', about: 'when: again and again, such as 30m' },
  {
    flags: '--from <point>',
    about: 'what --every counts from',
    choices: ['schedule', 'start', 'finish'],
  },
  { flags: '--at <moment>', about: 'when: once, such as 2026-12-01T09:00:00Z' },
  { flags: '--manual', about: 'when: only when asked' },
  { flags: '--http <url>', about: 'what: call a URL' },
  { flags: '--method <name>', about: 'how --http calls (default POST)' },
  { flags: '--crawl <url>', about: 'what: crawl a site' },
  { flags: '--shell <line>', about: 'what: a line for the shell, on nodes that allow commands' },
  { flags: '--handler <name>', about: 'what: code registered on a node' },
  { flags: '--input <json>', about: 'the payload as JSON, @file, or - for the standard input' },
  { flags: '--queue <name>', about: 'the line it waits in' },
  { flags: '--priority <1-6>', about: '6 goes first', parse: whole(1, 6) },
  {
    flags: '--retries <n>',
    about: 'how often a failed run is tried again',
    parse: whole(0, 1_000),
  },
  { flags: '--time-limit <duration>', about: 'ends a run after, such as 10m' },
  {
    flags: '--overlap <rule>',
    about: 'while the run before goes on',
    choices: ['skip', 'replace', 'allow'],
  },
  { flags: '--missed <rule>', about: 'firings nobody was there for', choices: ['skip', 'once'] },
  { flags: '--tag <name>', about: 'a label; may be given several times', parse: gather },
  { flags: '--tenant <name>', about: 'whose it is, for those who see every tenant' },
  { flags: '-f, --file <file>', about: 'a JSON file with the whole body, or -; flags win over it' },
]

/** What was said, and nothing else. */
export function bodyOf(flags: Flags): JobBody {
  const text = (name: string) => flags[name] as string | undefined
  const file = text('file')
  const payload = payloadOf(text('input'), [])
  const limit = text('timeLimit')
  const body = {
    ...(file === undefined ? {} : fileOf(file)),
    ...given('trigger', triggerOf(flags)),
    ...given('action', actionOf(flags)),
    ...given('handler', text('handler')),
    ...given('payload', payload),
    ...given('queue', text('queue')),
    ...given('priority', flags['priority']),
    ...given('max_retries', flags['retries']),
    ...given('timeout_seconds', limit === undefined ? undefined : secondsOf(limit)),
    ...given('overlap', text('overlap')),
    ...given('missed', text('missed')),
    ...given('tags', flags['tag']),
    ...given('tenant', text('tenant')),
  }
  return body
}

function given(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value }
}

function fileOf(path: string): Readonly<Record<string, unknown>> {
  let held: unknown
  try {
    held = JSON.parse(readText(path))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw usage(`${path} is not JSON`, error.message)
  }
  if (typeof held === 'object' && held !== null && !Array.isArray(held)) {
    return { ...held }
  }
  throw usage(`${path} must hold one object, the body of a job`)
}

function secondsOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms <= 0)
    throw usage(`--time-limit must be a duration (got ${text})`, 'such as 10m')
  return ms / 1_000
}

/** One of several ways to say it; two of them contradict each other. */
function oneOf(flags: Flags, names: readonly string[]): string | undefined {
  const said = names.filter(name => flags[name] !== undefined)
  if (said.length > 1) throw usage(`--${said[0]} and --${said[1]} contradict each other`)
  return said[0]
}

function triggerOf(flags: Flags): JobBody['trigger'] {
  const { cron, tz, dialect, every, from, at } = flags as Readonly<Record<string, string>>
  switch (oneOf(flags, ['cron', 'every', 'at', 'manual'])) {
    case 'cron':
      return {
        cron: cron!,
        ...(tz === undefined ? {} : { timezone: tz }),
        ...(dialect === undefined ? {} : { dialect: dialect as 'posix' }),
      }
    case 'every':
      return { every: every!, ...(from === undefined ? {} : { from: from as 'start' }) }
    case 'at':
      return { at: at! }
    case 'manual':
      return { manual: true }
    default:
      if (tz !== undefined) throw usage('--tz needs --cron: it is the zone of the expression')
      return undefined
  }
}

function actionOf(flags: Flags): JobBody['action'] {
  const { http, method, crawl, shell } = flags as Readonly<Record<string, string>>
  switch (oneOf(flags, ['http', 'crawl', 'shell', 'handler'])) {
    case 'http':
      return { kind: 'http', url: http, ...(method === undefined ? {} : { method }) }
    case 'crawl':
      return { kind: 'crawl', url: crawl }
    case 'shell':
      return { kind: 'command', shell }
    default:
      return undefined
  }
}
