// What the parts of a stored job that are objects must look like: one that does not would fail every
// write it is part of, with those of other jobs.

import { DamagedRecord } from '../../core/stored/damage.ts'
import { INSTANT_MAX } from '../../core/time.ts'

type Fields = Readonly<Record<string, unknown>>
type Test = (value: unknown) => boolean

const isNumber: Test = value => typeof value === 'number'
/** A time that no calendar has would fail every list it is in. */
const isTime: Test = value => typeof value === 'number' && Math.abs(value) <= INSTANT_MAX
const isText: Test = value => typeof value === 'string'
/** What may be null may be left out, as rows of earlier versions do. */
const isNumberOrNull: Test = value => value == null || typeof value === 'number'
const isTimeOrNull: Test = value => value == null || isTime(value)

const run = {
  run: isNumber,
  attempt: isNumber,
  failures: isNumber,
  failingSince: isTimeOrNull,
  retryOf: isNumberOrNull,
}
const pause = { at: isTime, until: isTimeOrNull }
const shapes = {
  current: run,
  hold: { attemptId: isText, owner: isText, until: isTime },
  pause,
  pauseAsked: pause,
  ended: { at: isTime, reason: isText },
  lastError: { name: isText, message: isText },
} as const
const names = Object.keys(shapes) as (keyof typeof shapes)[]
const request = {
  ...run,
  id: isText,
  kind: isText,
  dueAt: isTime,
  occurrence: isTime,
  to: isTimeOrNull,
}

/** Throws DamagedRecord unless every one is a time or missing. */
export function assertTimes(...times: readonly unknown[]): void {
  if (!times.every(isTimeOrNull)) {
    throw new DamagedRecord('state', 'the stored times of the job are no times')
  }
}

/** Throws DamagedRecord; absent parts are sound. */
export function assertParts(detail: object): void {
  const held = detail as Fields
  for (const name of names) {
    if (held[name] !== undefined) assertShape(name, held[name], shapes[name])
  }
  const { requests, serving } = held
  if (serving !== undefined && !isText(serving)) throw damaged('serving')
  if (requests === undefined) return
  if (!Array.isArray(requests)) throw damaged('requests')
  for (const one of requests) assertShape('requests', one, request)
}

function assertShape(name: string, part: unknown, shape: Readonly<Record<string, Test>>): void {
  if (typeof part !== 'object' || part === null) throw damaged(name)
  for (const [field, holds] of Object.entries(shape)) {
    if (!holds((part as Fields)[field])) throw damaged(name)
  }
}

function damaged(name: string): DamagedRecord {
  return new DamagedRecord('state', `the stored state of the job is unreadable: ${name}`)
}
