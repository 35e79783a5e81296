// What handlers report while they run: progress, a checkpoint, log lines.

import { numberMark } from '../../core/query.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { LogLine, Page, PageRequest, Progress, Report } from '../port.ts'
import { numberOrNull, type Row } from './columns.ts'
import { pageOf, Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'

export async function report(
  tables: Tables,
  reports: readonly Report[],
  now: Instant,
): Promise<boolean[]> {
  if (reports.length === 0) return []
  const sql = `select unnest(${tables.connection.functionName('report')}($1, $2))`
  const rows = await tables.connection.call(sql, [JSON.stringify(reports.map(reportJson)), now])
  return rows.map(([isHeld]) => isHeld === 't')
}

function reportJson(given: Report): Record<string, unknown> {
  const { progress: told, checkpoint, lines } = given
  return {
    id: toKey(given.jobId),
    token: toKey(given.token),
    fence: given.fence,
    attempt: toKey(given.attemptId),
    tells: told !== undefined,
    fraction: told?.fraction,
    note: toKeyOrNull(told?.note ?? null),
    checkpoint: checkpoint === undefined ? null : JSON.stringify(checkpoint),
    lines:
      lines && lines.length > 0 ? lines.slice(0, limits.logLinesPerAttempt).map(lineJson) : null,
  }
}

function lineJson({ at, level, message, fields }: LogLine): unknown[] {
  return [at, level, toKey(message), fields === null ? null : JSON.stringify(fields)]
}

export const progressColumns = 'p.attempt, p.fraction, p.note, p.checkpoint, p.at'

export function toProgress(row: Row): Progress {
  return {
    attemptId: fromKey(row[0]!),
    fraction: numberOrNull(row[1]),
    note: fromKeyOrNull(row[2]!),
    checkpoint: row[3] === null ? undefined : (JSON.parse(row[3]!) as Json),
    at: Number(row[4]),
  }
}

export async function progress(tables: Tables, jobId: string): Promise<Progress | null> {
  const { connection, schema } = tables
  const [row] = await connection.rows(
    `select ${progressColumns}
      from ${schema}.progress p join ${schema}.jobs j on j.seq = p.job where j.id = $1`,
    [toKey(jobId)],
  )
  return row ? toProgress(row) : null
}

export async function log(
  tables: Tables,
  attemptId: string,
  page: PageRequest,
): Promise<Page<LogLine>> {
  const query = new Query()
  query.where(`l.attempt = ${query.value(toKey(attemptId))}`)
  const end = query.cut('l.n', page, numberMark)
  const rows = await tables.connection.rows(
    `select ${lineColumns} from ${tables.schema}.logs l
      ${query.conditions} ${end}`,
    query.values,
  )
  return pageOf(rows, page.limit, toLine, row => row[0]!)
}

export const lineColumns = 'l.n, l.at, l.level, l.message, l.fields'

export function toLine(row: Row): LogLine {
  return {
    at: Number(row[1]),
    level: row[2] as LogLine['level'],
    message: fromKey(row[3]!),
    fields: row[4] === null ? null : (JSON.parse(row[4]!) as JsonObject),
  }
}
