// What handlers report while they run: progress, a checkpoint, log lines.

import type { JsonObject } from '../../core/json.ts'
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
import { jsonOr } from '../shared/attempt.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { marksFor } from './insert.ts'
import { addMeasures } from './measures.ts'
import { rowOf, rowsOf, type Operation, type Row, type Value } from './operation.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'

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
    const seq = yield* heldSeq(sql, one)
    if (seq !== null) {
      yield* writeProgress(seq, one, now)
      yield* writeLines(seq, one)
    }
    held.push(seq !== null)
  }
  return held
}

/** The number of the job if the lease still holds. */
function* heldSeq({ dialect }: Sql, { jobId, token, fence }: Report): Operation<number | null> {
  const row = yield* rowOf<[number]>(
    `select seq from job_states where seq = (select seq from jobs where id = ?)
      and token = ? and fence = ? ${dialect.keepStates}`,
    toKey(jobId),
    toKey(token),
    fence,
  )
  return row?.[0] ?? null
}

export const progressColumns = 'job, attempt_id, fraction, note, checkpoint, updated_at'
export function progressValues(seq: number, reported: Progress): Value[] {
  const { attemptId, fraction, note, checkpoint, at } = reported
  const text = checkpoint === undefined ? null : JSON.stringify(checkpoint)
  return [seq, toKey(attemptId), fraction, toKeyOrNull(note), text, at]
}

/** What is not reported stays, in one statement: reports of one attempt may come side by side. */
function* writeProgress(seq: number, given: Report, at: Instant): Operation<void> {
  const { attemptId, progress: shown, checkpoint } = given
  if (!shown && checkpoint === undefined) return
  const { fraction, note } = shown ?? { fraction: null, note: null }
  const kept = (column: string) =>
    shown
      ? `excluded.${column}`
      : `case when p.attempt_id = excluded.attempt_id then p.${column} end`
  yield* rowsOf(
    `insert into progress as p (${progressColumns}) values (${marksFor(progressColumns)})
      on conflict (job) do update set attempt_id = excluded.attempt_id,
        fraction = ${kept('fraction')}, note = ${kept('note')},
        checkpoint = ${checkpoint === undefined ? 'p' : 'excluded'}.checkpoint,
        updated_at = excluded.updated_at`,
    ...progressValues(seq, { attemptId, fraction, note, checkpoint, at }),
  )
}

type ProgressRow = [
  attempt: string,
  fraction: number | null,
  note: string | null,
  checkpoint: string | null,
  at: number,
]

export function toProgress(row: Row): Progress {
  const [attempt, fraction, note, checkpoint, at] = row as ProgressRow
  return {
    attemptId: fromKey(attempt),
    fraction,
    note: fromKeyOrNull(note),
    checkpoint: checkpoint === null ? undefined : jsonOr(checkpoint, undefined),
    at,
  }
}

export function* progress(jobId: string): Operation<Progress | null> {
  const row = yield* rowOf(
    `select p.attempt_id, p.fraction, p.note, p.checkpoint, p.updated_at
      from jobs j join progress p on p.job = j.seq where j.id = ?`,
    toKey(jobId),
  )
  return row ? toProgress(row) : null
}

export const lineColumns = 'attempt_id, n, job, at, level, message, fields'
const insertLineSql = `insert into log_lines (${lineColumns}) values (${marksFor(lineColumns)})`

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
    fields: fields === null ? null : (jsonOr(fields, { unreadable: fields }) as JsonObject),
  }
}
