// What a store of this machine refuses, as the error that a service would have sent.

import { CarillonError } from '../../client/error.ts'
import { LocalRefusal } from '../../service/local.ts'

/** As a service would have refused it: commands know no other. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof LocalRefusal)) return error
  const { retryAfterSeconds, status } = error.problem
  const text = retryAfterSeconds === null ? null : String(retryAfterSeconds)
  const get = (name: string) => (name === 'retry-after' ? text : null)
  return new CarillonError(status, error.body, { get })
}
