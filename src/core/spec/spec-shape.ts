// Whether what was read from a store has the shape of a spec at all. Cheap, for every spec that is
// read: whether it makes sense is for spec-check, and an invalid cron is no damage.

import { DamagedRecord } from '../stored/damage.ts'
import type { JobSpec } from '../spec.ts'

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value)
const isNumberOrNull = (value: unknown): boolean => value === null || isNumber(value)

function hasField(value: unknown, field: string, is: (part: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false
  return is((value as Record<string, unknown>)[field])
}

export function assertShape(spec: JobSpec): JobSpec {
  const field = misshapen(spec)
  if (field === null) return spec
  throw new DamagedRecord('spec', `the stored spec has no readable ${field}`)
}

/** The first field that no spec ever had like this. */
function misshapen(spec: JobSpec): keyof JobSpec | null {
  if (!isText(spec.handler) || spec.handler === '') return 'handler'
  if (typeof spec.isAction !== 'boolean') return 'isAction'
  if (!isTrigger(spec.trigger)) return 'trigger'
  if (!isText(spec.name)) return 'name'
  if (!isText(spec.queue)) return 'queue'
  if (!isText(spec.tenant)) return 'tenant'
  if (!isText(spec.lane)) return 'lane'
  if (!isNumber(spec.priority)) return 'priority'
  if (!isText(spec.first)) return 'first'
  if (!isNumberOrNull(spec.startAt)) return 'startAt'
  if (!isNumberOrNull(spec.endAt)) return 'endAt'
  if (!isNumberOrNull(spec.runLimit)) return 'runLimit'
  if (!isNumber(spec.jitterMs)) return 'jitterMs'
  if (!isNumber(spec.graceMs)) return 'graceMs'
  if (!isNumberOrNull(spec.lateLimitMs)) return 'lateLimitMs'
  if (!isNumberOrNull(spec.timeoutMs)) return 'timeoutMs'
  if (!hasField(spec.missed, 'policy', isText)) return 'missed'
  if (!hasField(spec.overlap, 'policy', isText)) return 'overlap'
  if (!hasField(spec.retry?.backoff, 'kind', isText)) return 'retry'
  if (!hasField(spec.retention, 'attempts', isNumber)) return 'retention'
  if (!Array.isArray(spec.tags)) return 'tags'
  if (!isHistory(spec.payloadHistory)) return 'payloadHistory'
  return typeof spec.metadata === 'object' && spec.metadata !== null ? null : 'metadata'
}

function isHistory(history: unknown): boolean {
  if (history === undefined) return true
  if (!hasField(history, 'revision', isNumber) || !hasField(history, 'since', isNumber))
    return false
  const { kept } = history as { readonly kept?: unknown }
  return Array.isArray(kept) && kept.every(isKeptPayload)
}

function isKeptPayload(one: unknown): boolean {
  const hasUse = hasField(one, 'number', isNumber) && hasField(one, 'at', isNumber)
  return hasUse && hasField(one, 'revisions', Array.isArray)
}

function isTrigger(trigger: unknown): boolean {
  if (typeof trigger !== 'object' || trigger === null) return false
  switch ((trigger as { kind?: unknown }).kind) {
    case 'once':
      return hasField(trigger, 'at', isNumber)
    case 'interval':
      return hasField(trigger, 'everyMs', isNumber) && hasField(trigger, 'from', isText)
    case 'cron':
      return hasField(trigger, 'expression', isText) && hasField(trigger, 'zone', isText)
    case 'manual':
      return true
    default:
      return false
  }
}
