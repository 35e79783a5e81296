// Triggers where callers give them: what every(), cron(), daily() and at() make, and nothing else.

import type { Check } from '../core/spec/option-check.ts'
import { parseDuration } from '../core/time.ts'
import type { When } from './when.ts'

const RULE = 'a trigger made by every(), cron(), daily() or at()'

export function isWhen(value: unknown): value is When {
  if (typeof value !== 'object' || value === null) return false
  const { trigger, describe } = value as Partial<When>
  return typeof trigger === 'object' && trigger !== null && typeof describe === 'function'
}

export const isTrigger: Check = (found, field, value) => {
  if (!isWhen(value)) found.add(field, value, `${RULE}${hintFor(value)}`)
}

/** One trigger, a list of them, or a list of what `isEntry` checks. */
export function isTriggerOrList(isEntry: Check): Check {
  return (found, field, value) => {
    if (!Array.isArray(value)) isTrigger(found, field, value)
    else
      for (const [i, entry] of value.entries()) {
        const isBare = isWhen(entry) || typeof entry !== 'object'
        const check = isBare ? isTrigger : isEntry
        check(found, `${field}.${i}`, entry)
      }
  }
}

/** How the same is written as a trigger, where that can be told. */
function hintFor(value: unknown): string {
  if (typeof value === 'number') return `: use every(${value})`
  if (value instanceof Date) return ': use at(date)'
  if (typeof value !== 'string') return ''
  if (parseDuration(value) !== null) return `: use every('${value}')`
  if (/^\d{4}-\d{2}-\d{2}T/.test(value)) return `: use at('${value}')`
  const fields = value.trim().split(/\s+/).length
  const isCron = value.startsWith('@') || (fields >= 5 && fields <= 7)
  return isCron ? `: use cron('${value}', { tz: 'Europe/Berlin' })` : ''
}
