// A spec as stores keep it: only what differs from the defaults, which makes it a third as long.
// The text names the defaults it was written against, so changing them never changes stored jobs.

import type { JobSpec } from './spec.ts'
import { specDefaults } from './spec.ts'

type Defaults = typeof specDefaults
type Field = keyof Defaults

/** By number: a new set of defaults is added behind the others, none is ever altered. */
const generations: readonly (Defaults | null)[] = [null, specDefaults]
const CURRENT = generations.length - 1
const usuals = Object.entries(specDefaults) as [Field, unknown][]

interface SpecText extends Partial<JobSpec> {
  readonly defaults: number
  readonly handler: string
  readonly trigger: JobSpec['trigger']
}

/** Parts are compared by identity: one that merely looks like a default is written out. */
export function specText(spec: JobSpec): string {
  const { handler, trigger, name, lane } = spec
  let text = `{"defaults":${CURRENT},"handler":${JSON.stringify(handler)}`
  text += `,"trigger":${JSON.stringify(trigger)}`
  if (name !== handler) text += `,"name":${JSON.stringify(name)}`
  if (lane !== spec.tenant) text += `,"lane":${JSON.stringify(lane)}`
  for (const [field, usual] of usuals) {
    const value = spec[field]
    if (value !== usual) text += `,"${field}":${JSON.stringify(value)}`
  }
  return `${text}}`
}

export function parseSpec(text: string): JobSpec {
  const { defaults, ...kept } = JSON.parse(text) as SpecText
  const base = generations[defaults]
  if (!base)
    throw new RangeError(`a spec written against defaults ${defaults} is from a newer Carillon`)
  const tenant = kept.tenant ?? base.tenant
  return {
    ...base,
    ...kept,
    name: kept.name ?? kept.handler,
    tenant,
    lane: kept.lane ?? tenant,
  }
}
