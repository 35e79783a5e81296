// The rows a definition asks for, as specs.

import { refuse } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { completeSpec, type JobSpec } from '../core/spec.ts'
import { jsonPayload } from '../core/history/payload.ts'
import type { AnyDefinition, RowPolicies, ScheduleEntry } from './options.ts'
import { boundParts, laneParts, policyParts, type Policies } from './policies.ts'
import type { When } from './when.ts'

/** One row a definition declares. */
export interface DeclaredRow {
  readonly key: string
  readonly spec: JobSpec
}

/** What one row has of its own; its policies win over those of its definition. */
export interface RowInput extends RowPolicies {
  readonly when: When | null
  readonly payload?: Json
}

/** Every row the definition asks for; one without a schedule still has a row to be asked at. */
export function declaredRows(definition: AnyDefinition, defaults: Policies): DeclaredRow[] {
  const { schedule } = definition.options
  if (schedule === undefined) {
    return [{ key: 'main', spec: rowSpec(definition, defaults, { when: null }) }]
  }
  const list: readonly (When | ScheduleEntry<unknown>)[] = isOne(schedule) ? [schedule] : schedule
  const rows = list.map((entry, i) => {
    if (isEntry(entry)) {
      const { key, payload = definition.options.payload, ...row } = entry
      const own = { ...row, payload: jsonPayload(payload, definition.name) }
      return { key, spec: rowSpec(definition, defaults, own) }
    }
    const key = list.length === 1 ? 'main' : String(i + 1)
    return { key, spec: rowSpec(definition, defaults, { when: entry }) }
  })
  const keys = rows.map(row => row.key)
  const twice = keys.find((key, i) => keys.indexOf(key) !== i)
  if (twice !== undefined) {
    refuse('SPEC_INVALID', `job ${definition.name} is not valid`, [
      { field: 'schedule.key', value: twice, rule: 'must be different for each schedule of a job' },
    ])
  }
  return rows
}

export function rowSpec(definition: AnyDefinition, defaults: Policies, row: RowInput): JobSpec {
  const { name } = definition
  const options = { ...definition.options, ...withoutUndefined(row) }
  const metadata: Record<string, JsonObject[string]> = {}
  if (options.title !== undefined) metadata.title = options.title
  if (options.description !== undefined) metadata.description = options.description
  const trigger = row.when?.trigger ?? ({ kind: 'manual' } as const)
  return completeSpec({
    ...policyParts({ ...defaults, ...options }, trigger),
    ...(row.when ? boundParts(row.when) : {}),
    ...laneParts(options.tenant ?? defaults.tenant, options.user),
    name,
    handler: name,
    trigger,
    payload: row.payload === undefined ? jsonPayload(options.payload, name) : row.payload,
    tags: options.tags ?? [],
    metadata,
  })
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

function isOne(
  schedule: When | readonly When[] | readonly ScheduleEntry<unknown>[],
): schedule is When {
  return !Array.isArray(schedule)
}

function isEntry(entry: When | ScheduleEntry<unknown>): entry is ScheduleEntry<unknown> {
  return 'key' in entry
}
