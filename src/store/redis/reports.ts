// What handlers report while they run: progress, a checkpoint, log lines.

import type { Json, JsonObject } from '../../core/json.ts'
import { numberMark, offsetOf } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import type { LogLine, Page, PageRequest, Progress, Report } from '../port.ts'
import { jsonOr } from '../shared/attempt.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { RedisSession } from './session.ts'

export async function report(
  session: RedisSession,
  reports: readonly Report[],
  now: Instant,
): Promise<boolean[]> {
  if (reports.length === 0) return []
  const args = [String(now), String(reports.length), ...reports.flatMap(reportArgs)]
  const answer = (await session.run('report', args)) as number[]
  return answer.map(isHeld => isHeld === 1)
}

function reportArgs({ progress: reported, checkpoint, lines = [], ...lease }: Report): string[] {
  return [
    toKey(lease.jobId),
    toKey(lease.token),
    String(lease.fence),
    toKey(lease.attemptId),
    reported ? JSON.stringify([reported.fraction, noteKey(reported.note)]) : '',
    checkpoint === undefined ? '' : JSON.stringify(checkpoint),
    String(lines.length),
    ...lines.map(lineText),
  ]
}

export function lineText({ at, level, message, fields }: LogLine): string {
  return JSON.stringify([at, level, message, fields])
}

/** False stands for null, as in every text that scripts read. */
const noteKey = (note: string | null): string | false => (note === null ? false : toKey(note))

/** What a handler said of its progress. */
type Reported = [fraction: number | false, note: string | false]

/** The lines that `report.lua` writes. */
export function progressText({ attemptId, fraction, note, checkpoint, at }: Progress): string {
  const reported: Reported = [fraction ?? false, noteKey(note)]
  const kept = checkpoint === undefined ? '' : JSON.stringify(checkpoint)
  return [JSON.stringify([toKey(attemptId)]), JSON.stringify(reported), at, kept].join('\n')
}

export async function progress(session: RedisSession, jobId: string): Promise<Progress | null> {
  const text = (await session.run('progress', [toKey(jobId)])) as string
  return text === '' ? null : readProgress(text)
}

/** Null for one that does not decode: the next report writes it anew. */
export function readProgress(text: string): Progress | null {
  try {
    return toProgress(text)
  } catch {
    return null
  }
}

export function toProgress(text: string): Progress {
  const [attempt, reported, at, checkpoint] = text.split('\n')
  const [attemptId] = JSON.parse(attempt!) as [string]
  const [fraction, note] = JSON.parse(reported!) as Reported
  return {
    attemptId: fromKey(attemptId),
    fraction: fraction === false ? null : fraction,
    note: note === false ? null : fromKey(note),
    checkpoint: checkpoint === '' ? undefined : (JSON.parse(checkpoint!) as Json),
    at: Number(at),
  }
}

/** The cursor is the position of the last line of the page. */
export async function log(
  session: RedisSession,
  attemptId: string,
  page: PageRequest,
): Promise<Page<LogLine>> {
  const offset = offsetOf(page) ?? 0
  const texts = (await session.send('LRANGE', `log:${toKey(attemptId)}`, '0', '-1')) as string[]
  const isNewest = page.newestFirst === true
  const cursor = page.cursor ?? null
  const past = cursor === null ? (isNewest ? texts.length : -1) : numberMark(cursor)
  const from = isNewest ? past - 1 - offset : past + 1 + offset
  const step = isNewest ? -1 : 1
  const items: LogLine[] = []
  let position = from
  for (; items.length < page.limit && position >= 0 && position < texts.length; position += step) {
    items.push(toLine(texts[position]!))
  }
  const hasMore = items.length > 0 && position >= 0 && position < texts.length
  return { items, cursor: hasMore ? String(position - step) : null }
}

export function toLine(text: string): LogLine {
  const unreadable = [0, 'warn', 'the stored line is unreadable', { unreadable: text }]
  const [at, level, message, fields] = jsonOr(text, unreadable) as [
    Instant,
    LogLine['level'],
    string,
    JsonObject | null,
  ]
  return { at, level, message, fields }
}
