// Payloads of declared schedules, checked before a start: a schedule whose payload its schema refuses
// would only fail at its first run.

import { SchedulerError, shown, type Problem } from '../core/errors.ts'
import { toJson } from '../core/json/json-copy.ts'
import type { AnyDefinition, ScheduleEntry } from './options.ts'
import { payloadProblems } from './schema.ts'
import { isWhen } from './trigger-check.ts'

/** Throws one error that names every job and field. */
export async function refuseDeclaredPayloads(definitions: readonly AnyDefinition[]): Promise<void> {
  const problems = (await Promise.all(definitions.map(problemsOf))).flat()
  if (problems.length === 0) return
  const lines = problems.map(({ field, rule, value }) => `${field}: ${rule} (got ${shown(value)})`)
  const message = `scheduled jobs have payloads their schema refuses: ${lines.join('; ')}`
  throw new SchedulerError('PAYLOAD_INVALID', message, { problems })
}

async function problemsOf({ name, options }: AnyDefinition): Promise<Problem[]> {
  const { input, schedule, payload } = options
  if (schedule === undefined && payload === undefined) return []
  const entries = Array.isArray(schedule)
    ? (schedule as readonly unknown[]).filter(one => !isWhen(one))
    : []
  const own = (entries as readonly ScheduleEntry<unknown>[]).map(entry => ({
    place: `${name}.schedule.${entry.key}`,
    payload: entry.payload === undefined ? payload : entry.payload,
  }))
  const given = own.length > 0 ? own : [{ place: name, payload }]
  const found = given.map(async one => {
    const problems: Problem[] = []
    const json = toJson(one.payload, 'payload', problems)
    const all = problems.length > 0 ? problems : await payloadProblems(input, json, one.payload)
    return all.map(problem => ({ ...problem, field: `${one.place}.${problem.field}` }))
  })
  return (await Promise.all(found)).flat()
}
