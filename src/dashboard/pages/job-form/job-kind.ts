// A job as its form shows it: intervals as people write them, and what follows from a job that runs once.

import { formKind, type FormKind } from '../../forms/form-kind.ts'
import { fieldsOf, type Fields } from '../../forms/form-values.ts'
import type { Group } from '../../forms/shape.ts'
import { jobLayout } from './layout.ts'

export function jobKind(schema: Group): FormKind {
  const kind = formKind(schema, jobLayout)
  return {
    ...kind,
    formOf: document => kind.formOf(asWritten(document)),
    bodyOf: form => asSent(kind.bodyOf(form)),
  }
}

/** A job without a schedule can only stop when its retries are spent; given one, it gets the default. */
function asWritten(document: Fields): Fields {
  const { trigger, retry, action, handler, ...rest } = document
  const { every, ...others } = fieldsOf(trigger)
  const shown = typeof every === 'number' ? { every: durationText(every), ...others } : trigger
  const { exhausted: _, ...policy } = fieldsOf(retry)
  return {
    ...rest,
    // The handler of an action is not one of its own.
    ...(action == null ? { handler } : { action }),
    ...(trigger !== undefined && { trigger: shown }),
    ...(retry !== undefined && {
      retry: isSingle(trigger) ? { ...policy, exhausted: 'next' } : retry,
    }),
  }
}

function asSent(body: Fields): Fields {
  if (!isSingle(body.trigger)) return body
  return { ...body, retry: { ...fieldsOf(body.retry), exhausted: 'stop' } }
}

function isSingle(trigger: unknown): boolean {
  const { at, manual } = fieldsOf(trigger)
  return at !== undefined || manual === true
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** The form people write: 90 minutes are `90m`. */
export function durationText(ms: number): string {
  const unit = units.find(([, size]) => ms % size === 0)
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms`
}
