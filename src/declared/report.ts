// What a start changed, as one line for people and as fields for machines.

import type { FieldChange } from '../core/control/edit.ts'
import { shown } from '../core/errors.ts'
import type { Difference } from '../core/declared/reconcile.ts'
import type { Backoff, Retry } from '../core/spec.ts'
import type { CronTrigger } from '../core/schedule/trigger.ts'
import type { Logger } from '../compose.ts'

interface Changed {
  readonly name: string
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

export interface Report {
  readonly line: string
  readonly fields: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly changed: readonly Changed[]
  }
}

/** Null when nothing changed. */
export function reportOf(differences: readonly Difference[], zone: string): Report | null {
  const added = differences.filter(({ kind }) => kind === 'added')
  const removed = differences.filter(({ kind }) => kind === 'forgotten').map(({ name }) => name)
  const changed = differences
    .filter(({ kind }) => kind === 'changed')
    .flatMap(({ name, fields }) => inOrder(fields).map(one => ({ name, ...one })))
  if (added.length + removed.length + changed.length === 0) return null
  const parts = [
    ...added.map(({ name, schedule }) => `added ${name} (${schedule})`),
    ...changed.map(one => `changed ${one.name} ${one.field} ${text(one.from)} → ${text(one.to)}`),
    ...removed.map(name => `removed ${name}`),
  ]
  return {
    line: `carillon: tasks in ${zone}: ${parts.join(', ')}`,
    fields: { added: added.map(({ name }) => name), removed, changed },
  }
}

/** As they stand in a registration: the expression before the delay. */
function inOrder(fields: readonly FieldChange[]): FieldChange[] {
  const [schedule, rest] = [true, false].map(isTrigger =>
    fields.filter(({ field }) => (field === 'trigger') === isTrigger).flatMap(fieldsOf),
  )
  return [...schedule!, ...rest!]
}

/** In the words of a registration, not in those of the job it became. */
function fieldsOf({ field, from, to }: FieldChange): FieldChange[] {
  switch (field) {
    case 'trigger': {
      const [before, after] = [from as CronTrigger, to as CronTrigger]
      return [
        { field: 'cron', from: before.expression, to: after.expression },
        { field: 'zone', from: before.zone, to: after.zone },
      ].filter(one => one.from !== one.to)
    }
    case 'retry':
      return [{ field: 'retryDelayMs', from: delayOf(from as Retry), to: delayOf(to as Retry) }]
    default:
      return [{ field, from, to }]
  }
}

function delayOf({ backoff }: Retry): number | Backoff['kind'] {
  return backoff.kind === 'fixed' ? backoff.delayMs : backoff.kind
}

function text(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : shown(value)
}

export function tell(logger: Logger | null, { line, fields }: Report): void {
  // oxlint-disable-next-line no-console -- without a logger this is where people look
  if (logger === null) console.info(line)
  else logger.info(fields, line)
}
