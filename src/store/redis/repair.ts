// What scripts never leave behind, looked for in batches that each see one moment, and put right.

import type { Instant } from '../../core/time.ts'
import { fromKey } from '../shared/text.ts'
import type { StoreFault } from '../maintenance.ts'
import { statusIndex, statuses } from './indexes.ts'
import type { RedisSession } from './session.ts'
import { flag } from './script-args.ts'

const BATCH = 500
/** Rows one script may count while nobody else is served. */
const COUNTED_MAX = 200_000
const COUNTS = 'counts'

type FaultCode = 'unplaced' | 'misplaced' | 'unrecorded' | 'unlisted' | 'gone'

const faults: Readonly<Record<FaultCode, readonly [StoreFault['kind'], (id: string) => string]>> = {
  unplaced: ['moment', id => `job ${id} has a moment, but claims cannot find it`],
  misplaced: ['moment', id => `job ${id} does not wait, or stands twice, where claims look`],
  unrecorded: [
    'lease',
    id => `running job ${id} is in no record of leases: nobody would take it over`,
  ],
  unlisted: ['list', id => `job ${id} is missing in lists by status, or in one it is not of`],
  gone: ['orphan', () => 'a job that is gone is still listed'],
}

export async function inspect(session: RedisSession, limit: number): Promise<StoreFault[]> {
  const found = new Map<string, StoreFault>()
  // Whatever is in a list of its own is in the list of all, unless it is gone.
  for (const index of ['jobs:all', ...statuses.map(status => statusIndex(status, undefined))]) {
    await inspectIndex(session, index, found, limit)
  }
  const wrong = (await session.run('recount', [String(COUNTED_MAX), '0'])) as number | null
  if (wrong !== null && wrong > 0) {
    const about = `${wrong} counts differ from the jobs there are`
    found.set(COUNTS, { kind: 'count', about, key: COUNTS })
  }
  return [...found.values()].slice(0, limit)
}

async function inspectIndex(
  session: RedisSession,
  index: string,
  found: Map<string, StoreFault>,
  limit: number,
): Promise<void> {
  for (let at = 0; found.size < limit; at += BATCH) {
    const range = [at, at + BATCH - 1].map(String)
    const seqs = (await session.send('ZRANGE', index, ...range)) as string[]
    if (seqs.length === 0) return
    const isWhole = flag(index === 'jobs:all')
    const flat = (await session.run('inspect', [isWhole, ...seqs])) as string[]
    for (let i = 0; i < flat.length; i += 3) {
      const [seq, id, what] = flat.slice(i, i + 3) as [string, string, FaultCode]
      const [kind, about] = faults[what]
      found.set(`${seq} ${what}`, { kind, about: about(fromKey(id)), key: seq })
    }
  }
}

export async function repair(
  session: RedisSession,
  { key }: StoreFault,
  now: Instant,
): Promise<void> {
  if (key === COUNTS) await session.run('recount', [String(COUNTED_MAX), '1'])
  else await session.run('repair', [String(now), key])
}
