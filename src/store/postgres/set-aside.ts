// Rows that did not decode are read again with everything beside them, and written as jobs that
// failed, so that no claim meets them again.

import type { DamagedRecord } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import { parseSpec, specText } from '../../core/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import { kinds } from '../shared/codes.ts'
import {
  asideChange,
  countOf,
  damageOf,
  declaredOf,
  madeDamage,
  tenantOfLane,
  type Damage,
} from '../shared/damage.ts'
import { fromKey, fromKeyOrNull } from '../shared/text.ts'
import { numbers } from './arrays.ts'
import type { Row } from './columns.ts'
import { commit } from './commit.ts'
import { soughtText } from './rows.ts'
import type { Tables } from './tables.ts'

const rawSql = (s: string) => `select j.seq, j.id, j.kind, j.series, j.lane, j.attempts, j.fence,
    j.version, j.body, j.token, x.spec, x.declared, x.created_at, l.queue, l.handler, h.tenant
  from ${s}.jobs j left join ${s}.specs x on x.seq = j.seq
    left join ${s}.lines l on l.id = j.line left join ${s}.shares h on h.id = j.share
  where j.seq = any ($1)`

/** Of what calls noted; answers with the jobs as they were written. */
export async function setAsideNoted(
  tables: Tables,
  noted: ReadonlyMap<number, DamagedRecord>,
  now: Instant,
): Promise<Job[]> {
  const { connection, schema } = tables
  const rows = await connection.rows(rawSql(schema), [numbers([...noted.keys()])])
  const done: Job[] = []
  for (const row of rows) {
    const seq = Number(row[0])
    const damage = damageIn(row, noted.get(seq)!)
    await giveSpec(tables, seq, damage.job)
    const [result] = await commit(tables, [asideChange(damage, now)], { now })
    tables.specs.drop(seq)
    if (result === 'committed') done.push(damage.job)
    if (result !== 'conflict') continue
    // Somebody else wrote it, or its moment is gone: in any case no claim is to meet it again.
    await connection.rows(`delete from ${schema}.moments where seq = $1 and what < 2`, [seq])
  }
  return done
}

function damageIn(row: Row, noted: DamagedRecord): Damage {
  const [, id, kind, series, lane, attempts, fence, version, body, token] = row
  const [spec, declared, createdAt, queue, handler, tenant] = row.slice(10)
  const { found, error } = specOf(spec ?? null, noted)
  const laneName = fromKey(lane!)
  return madeDamage(
    {
      id: fromKey(id!),
      kind: kinds[Number(kind)] ?? 'job',
      seriesId: fromKeyOrNull(series!),
      spec: found,
      declared: declaredOf(declared ?? null),
      createdAt: countOf(createdAt),
      tenant: tenant ? fromKey(tenant) : tenantOfLane(laneName),
      lane: laneName,
      queue: queue ? fromKey(queue) : 'default',
      handler: handler ? fromKey(handler) : 'unknown',
      attempts: countOf(attempts),
      fence: countOf(fence),
      version: countOf(version),
    },
    error,
    {
      token: fromKeyOrNull(token ?? null),
      raw: JSON.stringify({ spec, declared, body, attempts, fence, version }),
    },
  )
}

/** Whether the spec is whole decides what can be done about the rest. */
function specOf(
  spec: string | null,
  error: DamagedRecord,
): { found: JobSpec | null; error: DamagedRecord } {
  if (spec === null) return { found: null, error }
  try {
    return { found: parseSpec(spec), error }
  } catch (thrown) {
    return { found: null, error: damageOf(thrown, 'spec') }
  }
}

/** A change rewrites the row of a spec; one that is missing has to be there for that. */
async function giveSpec({ connection, schema }: Tables, seq: number, job: Job): Promise<void> {
  await connection.rows(
    `insert into ${schema}.specs (seq, spec_at, spec, created_at, kept, sought_name)
      values ($1, 0, $2, $3, $4, $5) on conflict (seq) do nothing`,
    [
      seq,
      specText(job.spec),
      job.createdAt,
      job.spec.retention.attempts,
      soughtText(job.spec.name),
    ],
  )
}
