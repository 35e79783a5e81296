// Rows that do not decode: what can still be told of one.

import type { DamagedRecord } from '../../core/damage.ts'
import type { JobSpec } from '../../core/spec.ts'
import { parseSpec } from '../../core/spec-text.ts'
import { kinds } from '../shared/codes.ts'
import {
  countOf,
  damageOf,
  declaredOf,
  madeDamage,
  tenantOfLane,
  type Damage,
} from '../shared/damage.ts'
import { fromKey, fromKeyOrNull } from '../shared/text.ts'
import type { Statement, Value } from '../sql/sqlite/driver.ts'
import type { Lines } from './lines.ts'

const rawSql = `select jobs.id, kind, series, line, lane, attempts, fence, version, body, token,
  spec, tenant, declared, created_at
  from jobs left join specs on specs.seq = jobs.seq where jobs.seq = ?`
type RawRow = [
  id: string,
  kind: number,
  series: string | null,
  line: number,
  lane: string,
  attempts: Value,
  fence: Value,
  version: Value,
  body: string,
  token: string | null,
  spec: string | null,
  tenant: string | null,
  declared: string | null,
  createdAt: number | null,
]

export interface RawReader {
  readonly lines: Lines
  statement(sql: string): Statement
}

/** Inside the transaction that met the row. */
export function readDamage(tables: RawReader, seq: number, thrown: unknown): Damage {
  const row = tables.statement(rawSql).get(seq) as RawRow
  const [id, kind, series, line, lane, attempts, fence, version, body, token] = row
  const [spec, tenant, declared, createdAt] = row.slice(10) as [
    string | null,
    string | null,
    string | null,
    number | null,
  ]
  const { found, error } = specOf(spec, damageOf(thrown, 'state'))
  const name = tables.lines.knownName(line) ?? { queue: 'default', handler: 'unknown' }
  const laneName = fromKey(lane)
  return madeDamage(
    {
      id: fromKey(id),
      kind: kinds[kind] ?? 'job',
      seriesId: fromKeyOrNull(series),
      spec: found,
      declared: declaredOf(declared),
      createdAt: countOf(createdAt),
      tenant: tenant === null ? tenantOfLane(laneName) : fromKey(tenant),
      lane: laneName,
      ...name,
      attempts: countOf(attempts),
      fence: countOf(fence),
      version: countOf(version),
    },
    error,
    {
      token: fromKeyOrNull(token),
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
