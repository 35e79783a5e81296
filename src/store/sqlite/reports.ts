// What handlers report while they run: progress, a checkpoint, log lines.

import { numberMark } from '../../core/query.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { LogLine, Page, PageRequest, Progress, Report } from '../store.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'
import { heldSeq } from './renew.ts'
import type { Tables } from './tables.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'

export function report(tables: Tables, reports: readonly Report[], now: Instant): boolean[] {
  if (reports.length === 0) return []
  return tables.write(() =>
    reports.map(given => {
      const seq = heldSeq(tables, given.jobId, given)
      if (seq === null) return false
      writeProgress(tables, seq, given, now)
      writeLines(tables, seq, given)
      return true
    }),
  )
}

function writeProgress(tables: Tables, seq: number, given: Report, now: Instant): void {
  const { progress: told, checkpoint } = given
  if (!told && checkpoint === undefined) return
  const before = readProgress(tables, seq)
  const same = before?.attemptId === given.attemptId ? before : null
  const note = told ? told.note : (same?.note ?? null)
  const kept = checkpoint === undefined ? before?.checkpoint : checkpoint
  tables
    .statement('insert or replace into progress values (?, ?, ?, ?, ?, ?)')
    .run(
      seq,
      toKey(given.attemptId),
      told ? told.fraction : (same?.fraction ?? null),
      toKeyOrNull(note),
      kept === undefined ? null : JSON.stringify(kept),
      now,
    )
}

export function readProgress(tables: Tables, seq: number): Progress | null {
  const row = tables
    .statement('select attempt, fraction, note, checkpoint, at from progress where job = ?')
    .get(seq) as [string, number | null, string | null, string | null, number] | undefined
  if (!row) return null
  const [attempt, fraction, note, checkpoint, at] = row
  return {
    attemptId: fromKey(attempt),
    fraction,
    note: fromKeyOrNull(note),
    checkpoint: checkpoint === null ? undefined : (JSON.parse(checkpoint) as Json),
    at,
  }
}

export function progress(tables: Tables, jobId: string): Progress | null {
  return tables.read(() => {
    const row = tables.statement('select seq from jobs where id = ?').get(toKey(jobId))
    return row ? readProgress(tables, row[0] as number) : null
  })
}

/** Most handlers report nothing: while no job has progress there is nothing to look for. */
export function clearCheckpoint(tables: Tables, seq: number): void {
  if (tables.hasProgress) tables.statement('delete from progress where job = ?').get(seq)
}

function writeLines(tables: Tables, seq: number, { attemptId, lines }: Report): void {
  if (!lines || lines.length === 0) return
  const attempt = toKey(attemptId)
  const held = tables
    .statement('select coalesce(max(n) + 1, 0) from logs where attempt = ?')
    .get(attempt)![0] as number
  tables.statement('insert or ignore into logged values (?, ?)').run(seq, attempt)
  const room = Math.max(0, limits.logLinesPerAttempt - held)
  for (const [i, { at, level, message, fields }] of lines.slice(0, room).entries()) {
    tables
      .statement('insert into logs values (?, ?, ?, ?, ?, ?)')
      .run(
        attempt,
        held + i,
        at,
        level,
        toKey(message),
        fields === null ? null : JSON.stringify(fields),
      )
  }
}

export function log(tables: Tables, attemptId: string, page: PageRequest): Page<LogLine> {
  const cut = cutBy('n', page, numberMark)
  const rows = tables.glance(() =>
    tables
      .statement(
        `select n, at, level, message, fields from logs ${whereAll(['attempt = ?', cut.where])}
          order by n ${cut.order} limit ? offset ?`,
      )
      .all(toKey(attemptId), ...cut.values, cut.limit, cut.offset),
  )
  return pageOf(
    rows,
    page.limit,
    row => toLine(row as LineRow),
    row => String(row[0]),
  )
}

export type LineRow = [number, number, LogLine['level'], string, string | null]

export function toLine([, at, level, message, fields]: LineRow): LogLine {
  return {
    at,
    level,
    message: fromKey(message),
    fields: fields === null ? null : (JSON.parse(fields) as JsonObject),
  }
}

/** With the attempt they belong to, given as it is stored. */
export function dropLogs(tables: Tables, seq: number, attempt: string): void {
  const { changes } = tables
    .statement('delete from logged where job = ? and attempt = ?')
    .run(seq, attempt)
  if (Number(changes) > 0) tables.statement('delete from logs where attempt = ?').run(attempt)
}

export function dropJobLogs(tables: Tables, seq: number): void {
  const rows = tables.statement('select attempt from logged where job = ?').all(seq)
  for (const [attempt] of rows) dropLogs(tables, seq, attempt as string)
}
