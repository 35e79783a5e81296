// What a server must be before it is trusted with jobs, and whose keys are in the namespace.

import { SchedulerError } from '../../core/errors.ts'
import type { Link } from './client.ts'
import { isReply, lostError, olderError, replacedError } from './errors.ts'
import { APPLICATION } from './scripts.ts'

/** Of the keys and texts in a namespace; the first one with names in words. */
export const LAYOUT = 3
const VERSION_MIN = 7

export interface ServerCheck {
  readonly isCluster: boolean
  /** What of the last writes a crash of the server may take, in words. */
  readonly loss: string
  readonly warnings: readonly string[]
}

/** Refuses with a clear error what would lose jobs; what it cannot see, it warns about. */
export async function checkServer(link: Link, label: string): Promise<ServerCheck> {
  const info = await readInfo(link)
  if (info === null) {
    const what = 'INFO is not permitted: version, role, persistence and eviction are not checked'
    return { isCluster: false, loss: lossOf(null), warnings: [what] }
  }
  const version = info.get('redis_version') ?? ''
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw unfit(label, `runs Redis ${version}; version ${VERSION_MIN} or newer is needed`)
  }
  const isCluster = info.get('cluster_enabled') === '1'
  // In a cluster this is only the node that was asked; writes find their way to the right one.
  if (!isCluster && info.get('role') !== 'master') {
    throw new SchedulerError(
      'STORE_READ_ONLY',
      `the Redis store at ${label} is a replica: give the address of the primary`,
    )
  }
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction') {
    const rule = 'jobs would vanish when memory is short; set it to noeviction'
    throw unfit(label, `has maxmemory-policy ${policy}: ${rule}`)
  }
  const sync = info.get('aof_enabled') === '0' ? 'off' : await readSync(link)
  return { isCluster, loss: lossOf(sync), warnings: warningsOf(sync) }
}

const crash = 'a crash of the server or loss of power'

/** Redis answers before it waits for the disk, unless it is told to wait each time. */
function lossOf(sync: string | null): string {
  switch (sync) {
    case 'always':
      return 'survives crashes and loss of power; a failover may take what was not replicated yet'
    case 'off':
      return 'survives crashes of nodes only: a restart of the server takes all since its last save'
    case 'no':
      return `survives crashes of nodes; ${crash} may take the last half minute`
    default:
      return `survives crashes of nodes; ${crash} may take the last two seconds, a failover more`
  }
}

/** Null where it is not permitted to ask. */
async function readSync(link: Link): Promise<string | null> {
  try {
    const answer = (await link.send(['CONFIG', 'GET', 'appendfsync'])) as string[]
    return answer[1] ?? null
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

function warningsOf(sync: string | null): string[] {
  if (sync === 'off') {
    return ['appendonly is off: a restart of the server loses what was written since its last save']
  }
  return sync === 'no' ? ['appendfsync is no: the system decides when anything is on disk'] : []
}

function unfit(label: string, what: string): SchedulerError {
  return new SchedulerError('SETTINGS_INVALID', `the Redis store at ${label} ${what}`)
}

async function readInfo(link: Link): Promise<Map<string, string> | null> {
  try {
    const text = String(await link.send(['INFO']))
    return new Map(
      text
        .split('\r\n')
        .filter(line => line.includes(':'))
        .map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    )
  } catch (error) {
    if (isReply(error) && (error as Error).message.startsWith('NOPERM')) return null
    throw error
  }
}

export interface LayoutCheck {
  readonly prefix: string
  readonly label: string
  /** Of the marker this process found before; null when it never connected. */
  readonly identity: string | null
  /** Whether keys of a namespace without a marker are taken over. */
  readonly adopts: boolean
}

/**
 * Marks an empty namespace as ours; one that is someone else's, older, newer, lost its marker or was
 * marked anew since is left as it is. Answers with the identity that tells it from one made in its
 * place later.
 */
export async function checkLayout(link: Link, check: LayoutCheck): Promise<string> {
  const { prefix, label } = check
  const key = `${prefix}meta`
  let type = await link.send(['TYPE', key])
  if (type === 'none') {
    await mark(link, check)
    type = await link.send(['TYPE', key])
  }
  if (type !== 'hash') throw foreign(label)
  const fields = ['application', 'layout', 'identity']
  const held = (await link.send(['HMGET', key, ...fields])) as (string | null)[]
  const layout = Number(held[1])
  if (held[0] !== APPLICATION || !Number.isInteger(layout)) throw foreign(label)
  if (layout < LAYOUT) throw olderError(label, layout, LAYOUT)
  if (layout > LAYOUT) {
    throw new SchedulerError(
      'STORE_NEWER',
      `the Redis store at ${label} has layout ${layout}, this program knows up to ${LAYOUT}`,
      { details: { version: layout, known: LAYOUT } },
    )
  }
  const identity = held[2] ?? ''
  if (check.identity !== null && check.identity !== identity) throw replacedError(label)
  return identity
}

/** Types of the keys every namespace with jobs has. */
const types: Readonly<Record<string, string>> = {
  jobs: 'hash',
  ids: 'hash',
  definitions: 'hash',
  sequence: 'string',
  'jobs:all': 'zset',
}

/**
 * The first of several processes marks it. The time by the server's clock, in microseconds, is an
 * identity no other marker of this namespace has.
 */
const markScript = `#!lua
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
local identity = time[1] .. string.format('%06d', time[2])
return redis.call('HSET', KEYS[1], 'identity', identity, unpack(ARGV))
`

async function mark(link: Link, { prefix, label, identity, adopts }: LayoutCheck): Promise<void> {
  let isEmpty = true
  for (const [name, type] of Object.entries(types)) {
    const found = await link.send(['TYPE', prefix + name])
    if (found === 'none') continue
    if (found !== type) throw foreign(label)
    isEmpty = false
  }
  if ((identity !== null || !isEmpty) && !adopts) throw lostError(label)
  // Keys of an older layout that lost its marker are not those of this one.
  const isOlder = (await link.send(['EXISTS', `${prefix}specs`])) === 1
  if (isOlder) throw olderError(label, LAYOUT - 1, LAYOUT)
  const words = ['application', APPLICATION, 'layout', String(LAYOUT)]
  await link.send(['EVAL', markScript, '1', `${prefix}meta`, ...words])
}

function foreign(label: string): SchedulerError {
  return new SchedulerError(
    'STORE_FOREIGN',
    `the Redis store at ${label}: the keys there belong to something else; nothing was changed`,
  )
}
