// Records that did not decode are read again in pieces, and written as jobs that failed, so that no
// claim meets them again.

import type { DamagedRecord } from '../../core/stored/damage.ts'
import type { Job } from '../../core/job.ts'
import { tenantOfLane } from '../../core/fairness/lane.ts'
import type { Instant } from '../../core/time.ts'
import { asideChange, countOf, damageOf, madeDamage, timeOf } from '../shared/damage.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { putRecords } from './records.ts'
import type { Definition } from './job-state.ts'
import { decodeDefinition, jobArgs, rowFields } from './row.ts'
import type { RedisSession } from './session.ts'

/** Of what calls noted; answers with the jobs as they were written. */
export async function setAsideNoted(
  session: RedisSession,
  noted: ReadonlyMap<string, DamagedRecord>,
  now: Instant,
): Promise<Job[]> {
  const done: Job[] = []
  for (const [seq, error] of noted) {
    const texts = await readTexts(session, seq)
    const id =
      texts.row === null && texts.definition === null ? null : await idOf(session, seq, texts)
    if (id === null) continue
    const job = await setAside(session, { seq, id, texts, error }, now)
    if (job !== null) done.push(job)
  }
  return done
}

interface StoredTexts {
  readonly row: string | null
  readonly definition: string | null
}

interface DamagedJob {
  readonly seq: string
  readonly id: string
  readonly texts: StoredTexts
  readonly error: DamagedRecord
}

async function readTexts(session: RedisSession, seq: string): Promise<StoredTexts> {
  const names = ['jobs', 'definitions']
  const found = await Promise.all(names.map(name => session.send('HGET', name, seq)))
  const [row = null, definition = null] = found as (string | null)[]
  return { row, definition }
}

/** In its row, or where ids lead to numbers, which has to be searched. */
async function idOf(
  session: RedisSession,
  seq: string,
  { row }: StoredTexts,
): Promise<string | null> {
  const inside = rowFields(row ?? '')?.id
  if (inside !== undefined && (await session.send('HGET', 'ids', toKey(inside))) === seq)
    return inside
  let cursor = '0'
  do {
    const [next, pairs] = (await session.send('HSCAN', 'ids', cursor, 'COUNT', '1000')) as [
      string,
      string[],
    ]
    for (let i = 1; i < pairs.length; i += 2) if (pairs[i] === seq) return fromKey(pairs[i - 1]!)
    cursor = next
  } while (cursor !== '0')
  return null
}

async function setAside(
  session: RedisSession,
  damaged: DamagedJob,
  now: Instant,
): Promise<Job | null> {
  const { seq, texts } = damaged
  const { job, records } = asideChange(damageIn(damaged), now)
  const args = [String(now), seq, ...jobArgs(job), texts.row ?? '', texts.definition ?? '']
  if ((await session.run('set-aside', args)) !== 1) return null
  await putRecords(session, records, now)
  return job
}

function damageIn({ id, texts, error: noted }: DamagedJob) {
  const { definition, error } = definitionOf(texts.definition, noted)
  const row = rowFields(texts.row ?? '')
  const lane = row?.lane ?? definition?.spec.lane ?? 'default'
  return madeDamage(
    {
      id,
      kind: definition?.kind ?? row?.kind ?? 'job',
      seriesId: definition?.seriesId ?? null,
      spec: definition?.spec ?? null,
      declared: definition?.declared ?? null,
      createdAt: timeOf(definition?.createdAt),
      tenant: row?.tenant ?? tenantOfLane(lane),
      lane,
      queue: row?.queue ?? 'default',
      handler: row?.handler ?? 'unknown',
      attempts: countOf(row?.attempts),
      fence: countOf(row?.fence),
      version: countOf(row?.version),
    },
    error,
    { token: null, raw: JSON.stringify({ row: texts.row, spec: texts.definition }) },
  )
}

/** Whether the definition is whole decides what can be done about the rest. */
function definitionOf(
  text: string | null,
  error: DamagedRecord,
): { definition: Definition | null; error: DamagedRecord } {
  if (text === null) return { definition: null, error }
  try {
    return { definition: decodeDefinition(text), error }
  } catch (thrown) {
    return { definition: null, error: damageOf(thrown, 'spec') }
  }
}
