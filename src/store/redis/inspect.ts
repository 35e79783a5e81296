// What scripts never leave behind, looked for in bites that each see one moment, and put right.

import type { StoreFault } from '../upkeep.ts'
import { fromKey } from '../shared/text.ts'
import type { Shelf } from './shelf.ts'

const BITE = 500
/** Rows one script may count while nobody else is served. */
const COUNTED_MAX = 200_000
const COUNTS = 'counts'

type Found = 'unplaced' | 'misplaced' | 'unrecorded' | 'gone'

const faults: Readonly<Record<Found, readonly [StoreFault['kind'], (id: string) => string]>> = {
  unplaced: ['moment', id => `job ${id} has a moment, but claims cannot find it`],
  misplaced: ['moment', id => `job ${id} does not wait, or stands twice, where claims look`],
  unrecorded: [
    'lease',
    id => `running job ${id} is in no record of leases: nobody would take it over`,
  ],
  gone: ['orphan', () => 'a job that is gone is still listed'],
}

export async function inspect(shelf: Shelf, limit: number): Promise<StoreFault[]> {
  const { connection } = shelf
  const found: StoreFault[] = []
  for (let at = 0; found.length < limit; at += BITE) {
    const [from, to] = [String(at), String(at + BITE - 1)]
    const seqs = (await connection.send('ZRANGE', `${connection.prefix}all`, from, to)) as string[]
    if (seqs.length === 0) break
    const flat = (await shelf.run('inspect', seqs)) as string[]
    for (let i = 0; i < flat.length; i += 3) {
      const [kind, about] = faults[flat[i + 2] as Found]
      found.push({ kind, about: about(fromKey(flat[i + 1]!)), key: flat[i]! })
    }
  }
  const wrong = (await shelf.run('counted', [String(COUNTED_MAX)])) as number | null
  if (wrong !== null && wrong > 0) {
    found.push({
      kind: 'count',
      about: `${wrong} counts differ from the jobs there are`,
      key: COUNTS,
    })
  }
  return found.slice(0, limit)
}

export async function mend(shelf: Shelf, { key }: StoreFault): Promise<void> {
  if (key === COUNTS) await shelf.run('recount', [String(COUNTED_MAX)])
  else await shelf.run('mend', [key])
}
