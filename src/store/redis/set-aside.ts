// Records that did not decode are read again in pieces, and written as jobs that failed, so that no
// claim meets them again.

import type { DamagedRecord } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { kinds } from '../shared/codes.ts'
import { asideChange, countOf, damageOf, madeDamage, tenantOfLane } from '../shared/damage.ts'
import type { Cold } from '../shared/job.ts'
import { fromKey } from '../shared/text.ts'
import { NUL } from './codes.ts'
import { coldText, parseCold } from './cold.ts'
import { putRecords } from './records.ts'
import { rowOf } from './row.ts'
import type { Shelf } from './shelf.ts'

/** Of what calls noted; answers with the jobs as they were written. */
export async function setAsideNoted(
  shelf: Shelf,
  noted: ReadonlyMap<string, DamagedRecord>,
  now: Instant,
): Promise<Job[]> {
  const done: Job[] = []
  for (const [seq, error] of noted) {
    const raw = await readRaw(shelf, seq)
    const id = raw.row === null && raw.spec === null ? null : await idOf(shelf, seq, raw)
    if (id === null) continue
    const job = await setAside(shelf, { seq, id, raw, error }, now)
    if (job !== null) done.push(job)
  }
  return done
}

interface Raw {
  readonly row: string | null
  readonly spec: string | null
}

interface Met {
  readonly seq: string
  readonly id: string
  readonly raw: Raw
  readonly error: DamagedRecord
}

async function readRaw({ connection }: Shelf, seq: string): Promise<Raw> {
  const get = (key: string) => connection.send('HGET', connection.prefix + key, seq)
  const [row, spec] = (await Promise.all([get('jobs'), get('specs')])) as (string | null)[]
  return { row: row ?? null, spec: spec ?? null }
}

/** In front of its spec, or where ids lead to numbers, which has to be searched. */
async function idOf({ connection }: Shelf, seq: string, { spec }: Raw): Promise<string | null> {
  const key = `${connection.prefix}ids`
  const inFront = spec?.split(NUL)[1]
  if (inFront !== undefined && (await connection.send('HGET', key, inFront)) === seq) return inFront
  let cursor = '0'
  do {
    const [next, pairs] = (await connection.send('HSCAN', key, cursor, 'COUNT', '1000')) as [
      string,
      string[],
    ]
    for (let i = 1; i < pairs.length; i += 2) if (pairs[i] === seq) return pairs[i - 1]!
    cursor = next
  } while (cursor !== '0')
  return null
}

async function setAside(shelf: Shelf, met: Met, now: Instant): Promise<Job | null> {
  const { seq, raw } = met
  const damage = damageIn(met)
  const change = asideChange(damage, now)
  const { job } = change
  const row = rowOf(job, job.version, now)
  const args = [seq, met.id, row, coldText(job), raw.row ?? '', raw.spec ?? '']
  if ((await shelf.run('setAside', args)) !== 1) return null
  shelf.colds.drop(seq)
  await putRecords(shelf, change.records, now)
  return job
}

function damageIn({ id, raw, error: noted }: Met) {
  const { cold, error } = specOf(raw.spec, noted)
  const fields = raw.row?.split(NUL) ?? []
  const [version, fence, , kind, tenant, queue, handler, lane] = fields
  const laneName = fromKey(lane ?? cold?.spec.lane ?? 'default')
  return madeDamage(
    {
      id: fromKey(id),
      kind: cold?.kind ?? kinds[Number(kind)] ?? 'job',
      seriesId: cold?.seriesId ?? null,
      spec: cold?.spec ?? null,
      declared: cold?.declared ?? null,
      createdAt: cold?.createdAt ?? 0,
      tenant: tenant === undefined ? tenantOfLane(laneName) : fromKey(tenant),
      lane: laneName,
      queue: fromKey(queue ?? 'default'),
      handler: fromKey(handler ?? 'unknown'),
      attempts: countOf(fields[13]),
      fence: countOf(fence),
      version: countOf(version),
    },
    error,
    { token: null, raw: JSON.stringify(raw) },
  )
}

/** Whether the spec is whole decides what can be done about the rest. */
function specOf(
  spec: string | null,
  error: DamagedRecord,
): { cold: Cold | null; error: DamagedRecord } {
  if (spec === null) return { cold: null, error }
  try {
    return { cold: parseCold(spec).cold, error }
  } catch (thrown) {
    return { cold: null, error: damageOf(thrown, 'spec') }
  }
}
