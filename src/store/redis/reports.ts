// What handlers report while they run: progress, a checkpoint, log lines.

import type { Json, JsonObject } from '../../core/json.ts'
import { numberMark, offsetOf } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { LogLine, Page, PageRequest, Progress, Report } from '../store.ts'
import { NUL } from './codes.ts'
import type { Shelf } from './shelf.ts'
import { fromKey, toKey } from '../shared/text.ts'

const NOTHING = '-'
const value = (text: string) => `=${text}`

export async function report(
  shelf: Shelf,
  reports: readonly Report[],
  now: Instant,
): Promise<boolean[]> {
  if (reports.length === 0) return []
  const answer = (await shelf.run('report', [
    String(now),
    String(reports.length),
    ...reports.flatMap(reportArgs),
  ])) as number[]
  return answer.map(isHeld => isHeld === 1)
}

function reportArgs(given: Report): string[] {
  const { progress: told, checkpoint, lines = [] } = given
  const note = told?.note ?? null
  return [
    toKey(given.jobId),
    toKey(given.token),
    String(given.fence),
    toKey(given.attemptId),
    told ? '1' : '0',
    told ? value(String(told.fraction)) : NOTHING,
    note === null ? NOTHING : value(toKey(note)),
    checkpoint === undefined ? NOTHING : value(JSON.stringify(checkpoint)),
    String(lines.length),
    ...lines.map(lineText),
  ]
}

export function lineText({ at, level, message, fields }: LogLine): string {
  return JSON.stringify([at, level, message, fields])
}

export function progressText(told: Progress): string {
  const { attemptId, fraction, note, checkpoint, at } = told
  return [
    toKey(attemptId),
    fraction === null ? NOTHING : value(String(fraction)),
    note === null ? NOTHING : value(toKey(note)),
    String(at),
    checkpoint === undefined ? NOTHING : value(JSON.stringify(checkpoint)),
  ].join(NUL)
}

export async function progress(shelf: Shelf, jobId: string): Promise<Progress | null> {
  const text = (await shelf.run('progress', [toKey(jobId)])) as string
  return text === '' ? null : toProgress(text)
}

export function toProgress(text: string): Progress {
  const [attempt, fraction, note, at, checkpoint] = text.split(NUL)
  return {
    attemptId: fromKey(attempt!),
    fraction: fraction === NOTHING ? null : Number(fraction!.slice(1)),
    note: note === NOTHING ? null : fromKey(note!.slice(1)),
    checkpoint: checkpoint === NOTHING ? undefined : (JSON.parse(checkpoint!.slice(1)) as Json),
    at: Number(at),
  }
}

/** The cursor is the place of the last line told. */
export async function log(
  shelf: Shelf,
  attemptId: string,
  page: PageRequest,
): Promise<Page<LogLine>> {
  const offset = offsetOf(page) ?? 0
  const { connection } = shelf
  const texts = (await connection.send(
    'LRANGE',
    `${connection.prefix}log:${toKey(attemptId)}`,
    '0',
    '-1',
  )) as string[]
  const isNewest = page.newestFirst === true
  const cursor = page.cursor ?? null
  const past = cursor === null ? (isNewest ? texts.length : -1) : numberMark(cursor)
  const from = isNewest ? past - 1 - offset : past + 1 + offset
  const step = isNewest ? -1 : 1
  const items: LogLine[] = []
  let place = from
  for (; items.length < page.limit && place >= 0 && place < texts.length; place += step) {
    items.push(toLine(texts[place]!))
  }
  const hasMore = items.length > 0 && place >= 0 && place < texts.length
  return { items, cursor: hasMore ? String(place - step) : null }
}

export function toLine(text: string): LogLine {
  const [at, level, message, fields] = JSON.parse(text) as [
    Instant,
    LogLine['level'],
    string,
    JsonObject | null,
  ]
  return { at, level, message, fields }
}
