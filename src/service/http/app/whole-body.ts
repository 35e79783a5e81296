// For bodies that are checked as a whole by whoever takes them, so that every problem is told at once.

import type { Request } from './parts.ts'

/** With `attachValidation`: throws what is wrong beside the body, or when it is no object at all. */
export function assertBesidesBody({ validationError, body }: Request): void {
  if (!validationError) return
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (validationError.validationContext !== 'body' || !isObject) throw validationError
}
