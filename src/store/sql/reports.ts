// What handlers report while they run: progress, a checkpoint, log lines.

import type { Json, JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import { numberMark } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import {
  isLate,
  type LateMeasures,
  type LogLine,
  type Page,
  type PageRequest,
  type Progress,
  type Report,
} from '../port.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { marksFor } from './insert.ts'
import { addMeasures } from './measures.ts'
import { rowOf, rowsOf, type Operation, type Row, type Value } from './operation.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'
import { heldSeq } from './renew.ts'

export function* report(
  sql: Sql,
  reports: readonly (Report | LateMeasures)[],
  now: Instant,
): Operation<boolean[]> {
  const held: boolean[] = []
  for (const one of reports) {
    if (isLate(one)) {
      held.push(yield* addMeasures(one))
      continue
    }
    const seq = yield* heldSeq(sql, one.jobId, one)
    if (seq !== null) {
      yield* writeProgress(seq, one, now)
      yield* writeLines(seq, one)
    }
    held.push(seq !== null)
  }
  return held
}

export const progressColumns = 'job, attempt_id, fraction, note, checkpoint, updated_at'
export const insertProgressSql = `insert into progress (${progressColumns})
  values (${marksFor(progressColumns)})`
const putProgressSql = `${insertProgressSql} on conflict (job) do update
  set attempt_id = excluded.attempt_id, fraction = excluded.fraction, note = excluded.note,
    checkpoint = excluded.checkpoint, updated_at = excluded.updated_at`

export function progressValues(seq: number, reported: Progress): Value[] {
  const { attemptId, fraction, note, checkpoint, at } = reported
  const text = checkpoint === undefined ? null : JSON.stringify(checkpoint)
  return [seq, toKey(attemptId), fraction, toKeyOrNull(note), text, at]
}

function* writeProgress(seq: number, given: Report, at: Instant): Operation<void> {
  const { attemptId, progress: told, checkpoint } = given
  if (!told && checkpoint === undefined) return
  const before = yield* readProgress(seq)
  const same = before?.attemptId === attemptId ? before : null
  const { fraction, note } = told ?? { fraction: same?.fraction ?? null, note: same?.note ?? null }
  const kept = checkpoint === undefined ? before?.checkpoint : checkpoint
  const values = progressValues(seq, { attemptId, fraction, note, checkpoint: kept, at })
  yield* rowsOf(putProgressSql, ...values)
}

type ProgressRow = [
  attempt: string,
  fraction: number | null,
  note: string | null,
  checkpoint: string | null,
  at: number,
]

export function* readProgress(seq: number): Operation<Progress | null> {
  const row = yield* rowOf<ProgressRow>(
    'select attempt_id, fraction, note, checkpoint, updated_at from progress where job = ?',
    seq,
  )
  return row ? toProgress(row) : null
}

export function toProgress(row: Row): Progress {
  const [attempt, fraction, note, checkpoint, at] = row as ProgressRow
  return {
    attemptId: fromKey(attempt),
    fraction,
    note: fromKeyOrNull(note),
    checkpoint: checkpoint === null ? undefined : (JSON.parse(checkpoint) as Json),
    at,
  }
}

export function* progress(jobId: string): Operation<Progress | null> {
  const row = yield* rowOf<[number]>('select seq from jobs where id = ?', toKey(jobId))
  return row ? yield* readProgress(row[0]) : null
}

export const lineColumns = 'attempt_id, n, job, at, level, message, fields'
export const insertLineSql = `insert into log_lines (${lineColumns}) values (${marksFor(lineColumns)})`

export function lineValues(line: LogLine): Value[] {
  const { at, level, message, fields } = line
  return [at, level, toKey(message), fields === null ? null : JSON.stringify(fields)]
}

function* writeLines(seq: number, { attemptId, lines }: Report): Operation<void> {
  if (!lines || lines.length === 0) return
  const attempt = toKey(attemptId)
  const row = yield* rowOf<[number]>(
    'select coalesce(max(n) + 1, 0) from log_lines where attempt_id = ?',
    attempt,
  )
  const held = row![0]
  const room = Math.max(0, limits.logLinesPerAttempt - held)
  for (const [i, line] of lines.slice(0, room).entries()) {
    yield* rowsOf(insertLineSql, attempt, held + i, seq, ...lineValues(line))
  }
}

export function* log(attemptId: string, page: PageRequest): Operation<Page<LogLine>> {
  const cut = cutBy('n', page, numberMark)
  const rows = yield* rowsOf(
    `select n, at, level, message, fields from log_lines
      ${whereAll(['attempt_id = ?', cut.where])} order by n ${cut.order} limit ? offset ?`,
    toKey(attemptId),
    ...cut.params,
    cut.limit,
    cut.offset,
  )
  const items = rows.slice(0, page.limit).map(toLine)
  return pageOf(rows, { limit: page.limit, items, mark: ([n]) => String(n) })
}

type LineRow = [
  n: number,
  at: number,
  level: LogLine['level'],
  message: string,
  fields: string | null,
]

export function toLine(row: Row): LogLine {
  const [, at, level, message, fields] = row as LineRow
  return {
    at,
    level,
    message: fromKey(message),
    fields: fields === null ? null : (JSON.parse(fields) as JsonObject),
  }
}
