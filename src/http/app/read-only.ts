// Fields that only the service sets: a body may hold them as they were read, never with other values.

import { z } from 'zod'
import type { Problem } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { refuseInvalid } from './refusal.ts'

export const readOnlyField = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'Given by the service.' })

/** `current` is what a reader is shown now. */
export function refuseChanged<F extends string>(
  fields: readonly F[],
  body: Readonly<Partial<Record<F, unknown>>>,
  current: Readonly<Record<F, unknown>>,
): void {
  const problems: Problem[] = fields
    .filter(field => body[field] !== undefined && !jsonEqual(body[field], current[field]))
    .map(field => ({ field, value: body[field], rule: 'is given by the service' }))
  refuseInvalid('native', problems)
}
