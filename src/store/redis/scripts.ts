// The Lua scripts of the store: files of `scripts`, put together with what they include, and known to
// Redis by the digest of their text. Nodes of different versions run their own side by side.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { LANE_KIND, laneLimits } from '../../core/fairness/lane.ts'
import { limits } from '../../core/limits.ts'
import { DAY } from '../../core/time.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../core/fairness/turns.ts'

/** What scripts share with the core and with tests: the include `constants`. */
export const constants = {
  LANE_KIND,
  TURN_KIND,
  TURN_KEPT_MS,
  IDLE_LANES_MAX: laneLimits.idleMax,
  WEIGHT_MAX: laneLimits.weightMax,
  LOG_LINES_MAX: limits.logLinesPerAttempt,
  /** What a lane has used up is forgotten when nothing was started for so long. */
  LANE_USE_KEPT_MS: 30 * DAY,
  /** Timed jobs made ready in one claim, at least; what is due later waits for the next. */
  READY_BATCH: 1_000,
  /** Of a job that is removed so much history goes at once; the rest is left to pruning. */
  HISTORY_BATCH: 1_000,
  /** Jobs that expire in the same millisecond go by number, as long as they are no more than this. */
  TOGETHER_MAX: 4_000,
} as const

export const APPLICATION = 'carillon'

/**
 * Nothing is written to a namespace that lost its marker, or was marked anew after that: what it held
 * is gone, and leases, schedules and limits known to this process are not those of the new one.
 */
const checkMarker = `local identity = table.remove(ARGV)
if redis.call('HGET', KEYS[1], 'identity') ~= identity then
  local marker = redis.call('HMGET', KEYS[1], 'application', 'identity')
  if marker[1] ~= '${APPLICATION}' then
    return redis.error_reply('NOMARKER the marker of the namespace is gone')
  end
  if (marker[2] or '') ~= identity then
    return redis.error_reply('NEWMARKER the namespace was marked anew')
  end
end
`

type Access = 'reading' | 'writing' | 'freeing'

const headers: Readonly<Record<Access, string>> = {
  reading: '#!lua flags=no-writes\n',
  // Without flags a script is refused before its first command when memory is full.
  writing: `#!lua\n${checkMarker}`,
  // What gives memory back must go on when there is none left.
  freeing: `#!lua flags=allow-oom\n${checkMarker}`,
}

/** Every file of `scripts`, and what it may do. */
const accesses = {
  'add-measures': 'writing',
  apply: 'writing',
  'attempts-by-id': 'reading',
  'attempts-of-job': 'reading',
  claim: 'writing',
  commit: 'writing',
  counts: 'reading',
  dump: 'reading',
  'due-ready': 'reading',
  'due-timed': 'reading',
  insert: 'writing',
  'insert-and-claim': 'writing',
  inspect: 'reading',
  'jobs-by-id': 'reading',
  'jobs-by-number': 'reading',
  list: 'reading',
  'list-records': 'reading',
  load: 'writing',
  'next-due': 'reading',
  overdue: 'freeing',
  'pause-queue': 'writing',
  progress: 'reading',
  prune: 'freeing',
  'put-records': 'writing',
  'put-stamped': 'freeing',
  recount: 'writing',
  remove: 'freeing',
  renew: 'freeing',
  repair: 'writing',
  report: 'writing',
  'set-aside': 'freeing',
  tenants: 'reading',
} as const satisfies Readonly<Record<string, Access>>

export type ScriptName = keyof typeof accesses
export const scriptNames = Object.keys(accesses) as readonly ScriptName[]

export interface Script {
  readonly text: string
  readonly sha: string
  /** Its last argument is the identity of the namespace it is meant for. */
  readonly isWriting: boolean
}

const INCLUDE = /^-- @include (\S+)$/gm
const folder = new URL('scripts/', import.meta.url)
const made = new Map<ScriptName, Script>()

export function scriptOf(name: ScriptName): Script {
  const known = made.get(name)
  if (known !== undefined) return known
  const access: Access = accesses[name]
  const text = headers[access] + withIncludes(`${name}.lua`)
  const sha = createHash('sha1').update(text).digest('hex')
  const script = { text, sha, isWriting: access !== 'reading' }
  made.set(name, script)
  return script
}

/** The names a file includes itself. */
export function includesOf(file: string): string[] {
  return [...fileText(file).matchAll(INCLUDE)].map(([, name]) => name!)
}

/** A file below everything it includes, each of them once. */
export function withIncludes(file: string, seen = new Set<string>()): string {
  const below = includesOf(file)
    .filter(name => !seen.has(name))
    .map(name => {
      if (seen.has(name)) return ''
      seen.add(name)
      return withIncludes(`include/${name}.lua`, seen)
    })
  return [...below, fileText(file)].join('\n')
}

function fileText(file: string): string {
  if (file === 'include/constants.lua') return constantsText()
  return readFileSync(new URL(file, folder), 'utf8')
}

function constantsText(): string {
  const lines = Object.entries(constants).map(([name, value]) =>
    typeof value === 'number' ? `local ${name} = ${value}\n` : `local ${name} = '${value}'\n`,
  )
  return lines.join('')
}

/** Files of scripts and of includes, for tests. */
export function scriptFiles(): string[] {
  const include = readdirSync(new URL('include/', folder)).map(name => `include/${name}`)
  return [...readdirSync(folder).filter(name => name.endsWith('.lua')), ...include].sort()
}
