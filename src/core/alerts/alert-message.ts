// Alerts on their way to people: each is a record written with the step it tells of, and removed when
// it is delivered, so that it outlives processes and receivers that are down.

import type { JobAlert } from './episode.ts'
import type { Json } from '../json.ts'
import type { RecordWrite, StoredRecord } from '../record.ts'
import { DAY, HOUR, SECOND, type Instant, type Millis } from '../time.ts'

export const ALERT_MESSAGE_KIND = 'alert-message'
/** An alert nobody took in so long is dropped. */
export const ALERT_KEPT_MS: Millis = 3 * DAY
/** While one node tries to deliver, the others leave it alone so long: a request takes less. */
const DELIVERY_MS: Millis = 15 * SECOND
const RETRY_FIRST_MS: Millis = 2 * SECOND
const RETRY_MAX_MS: Millis = HOUR

export interface AlertMessage {
  readonly alert: JobAlert
  /** The node that told of it first. */
  readonly node: string
  readonly tries: number
  readonly dueAt: Instant
}

export interface StoredMessage extends AlertMessage {
  readonly record: StoredRecord
}

/** Keys are in the order of time. */
export function messageWrite(alert: JobAlert, node: string): RecordWrite {
  const { at, id } = alert
  return {
    kind: ALERT_MESSAGE_KIND,
    key: `${String(at).padStart(16, '0')} ${alert.type} ${id}`,
    value: valueOf({ alert, node, tries: 0, dueAt: at }),
    expectedVersion: null,
    expireAt: at + ALERT_KEPT_MS,
  }
}

function valueOf(message: AlertMessage): Json {
  return message as unknown as Json
}

export function readMessage(record: StoredRecord): StoredMessage {
  return { ...(record.value as unknown as AlertMessage), record }
}

/**
 * Those to be delivered now, oldest first. The alerts of one episode go one after another: its end is
 * not told before its beginning.
 */
export function dueMessages(messages: readonly StoredMessage[], now: Instant): StoredMessage[] {
  const waiting = new Set<string>()
  return messages.filter(({ alert, dueAt }) => {
    const isFirst = !waiting.has(alert.episode)
    waiting.add(alert.episode)
    return isFirst && dueAt <= now
  })
}

/** The one whose write succeeds delivers it. */
export function deliveryWrite({ record, ...message }: StoredMessage, now: Instant): RecordWrite {
  const value = valueOf({ ...message, tries: message.tries + 1, dueAt: now + DELIVERY_MS })
  return { ...record, value, expectedVersion: record.version }
}

/** Nobody took it: it is tried again after a wait that doubles, until it expires. */
export function retryWrite({ record, ...message }: StoredMessage, now: Instant): RecordWrite {
  const tries = message.tries + 1
  const wait = Math.min(RETRY_FIRST_MS * 2 ** Math.min(tries - 1, 20), RETRY_MAX_MS)
  const value = valueOf({ ...message, tries, dueAt: now + wait })
  return { ...record, value, expectedVersion: null }
}

export function doneWrite({ record }: StoredMessage): RecordWrite {
  return { ...record, expectedVersion: null, remove: true }
}
