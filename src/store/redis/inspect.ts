// What scripts never leave behind, looked for in bites that each see one moment, and put right.

import type { StoreFault } from '../upkeep.ts'
import { allMarks } from '../shared/marks.ts'
import { fromKey } from '../shared/text.ts'
import { markIndex } from './listed.ts'
import type { Shelf } from './shelf.ts'

const BITE = 500
/** Rows one script may count while nobody else is served. */
const COUNTED_MAX = 200_000
const COUNTS = 'counts'

type Found = 'unplaced' | 'misplaced' | 'unrecorded' | 'unlisted' | 'gone'

const faults: Readonly<Record<Found, readonly [StoreFault['kind'], (id: string) => string]>> = {
  unplaced: ['moment', id => `job ${id} has a moment, but claims cannot find it`],
  misplaced: ['moment', id => `job ${id} does not wait, or stands twice, where claims look`],
  unrecorded: [
    'lease',
    id => `running job ${id} is in no record of leases: nobody would take it over`,
  ],
  unlisted: ['list', id => `job ${id} is missing in lists by status, or in one it is not of`],
  gone: ['orphan', () => 'a job that is gone is still listed'],
}

export async function inspect(shelf: Shelf, limit: number): Promise<StoreFault[]> {
  const found = new Map<string, StoreFault>()
  // Whatever is in a list of its own is in the list of all, unless it is gone.
  for (const index of ['all', ...allMarks.map(mark => markIndex(mark, undefined))]) {
    await inspectIndex(shelf, index, found, limit)
  }
  const wrong = (await shelf.run('counted', [String(COUNTED_MAX)])) as number | null
  if (wrong !== null && wrong > 0) {
    const about = `${wrong} counts differ from the jobs there are`
    found.set(COUNTS, { kind: 'count', about, key: COUNTS })
  }
  return [...found.values()].slice(0, limit)
}

async function inspectIndex(
  shelf: Shelf,
  index: string,
  found: Map<string, StoreFault>,
  limit: number,
): Promise<void> {
  const { connection } = shelf
  for (let at = 0; found.size < limit; at += BITE) {
    const [from, to] = [String(at), String(at + BITE - 1)]
    const key = connection.prefix + index
    const seqs = (await connection.send('ZRANGE', key, from, to)) as string[]
    if (seqs.length === 0) return
    const flat = (await shelf.run('inspect', [index === 'all' ? '1' : '0', ...seqs])) as string[]
    for (let i = 0; i < flat.length; i += 3) {
      const [seq, id, what] = flat.slice(i, i + 3) as [string, string, Found]
      const [kind, about] = faults[what]
      found.set(`${seq} ${what}`, { kind, about: about(fromKey(id)), key: seq })
    }
  }
}

export async function mend(shelf: Shelf, { key }: StoreFault): Promise<void> {
  if (key === COUNTS) await shelf.run('recount', [String(COUNTED_MAX)])
  else await shelf.run('mend', [key])
}
