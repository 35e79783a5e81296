// From any error to the problem a caller sees. Only here a code of the core becomes a status.

import type { FastifyError } from 'fastify'
import { SchedulerError, type Problem } from '../../../core/errors.ts'
import { InvalidPart } from './input.ts'
import { HttpProblem } from './problem.ts'

/** The two families of the originals answer some refusals with 400; everything else is `native`. */
export type Family = 'jobs' | 'schedules' | 'native'

const invalidStatus = { jobs: 400, schedules: 422, native: 422 } as const
const stateStatus = { jobs: 400, schedules: 400, native: 409 } as const

export function invalid(family: Family, detail: string, errors: readonly Problem[]): HttpProblem {
  return new HttpProblem('invalid-request', detail, { status: invalidStatus[family], errors })
}

export function wrongState(family: Family, detail: string, fields = {}): HttpProblem {
  return new HttpProblem('invalid-transition', detail, { status: stateStatus[family], fields })
}

export function notFound(what = 'there is no such resource'): HttpProblem {
  return new HttpProblem('not-found', what)
}

export function unauthorized(): HttpProblem {
  return new HttpProblem('unauthorized', 'a valid token is needed')
}

/** Throws all problems at once, if there are any. */
export function refuseInvalid(family: Family, errors: readonly Problem[]): void {
  if (errors.length === 0) return
  const names = [...new Set(errors.map(({ field }) => field))].join(', ')
  throw invalid(family, `not valid: ${names}`, errors)
}

/** Of a call of a use case: also what its schemas refuse. */
export function refusalOf(error: unknown, family: Family = 'native'): HttpProblem {
  if (!(error instanceof InvalidPart)) return problemOf(error, family)
  const names = [...new Set(error.problems.map(({ field }) => field))].join(', ')
  return invalid(family, `not valid: ${names}`, error.problems)
}

export function problemOf(error: unknown, family: Family): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof SchedulerError) return fromCore(error, family)
  return fromFastify(error as FastifyError) ?? new HttpProblem('internal', 'unexpected error')
}

function fromCore(error: SchedulerError, family: Family): HttpProblem {
  const { code, message, problems, details } = error
  switch (code) {
    case 'JOB_NOT_FOUND':
    case 'RUN_NOT_FOUND':
    case 'WORKFLOW_NOT_FOUND':
    case 'SOURCE_NOT_FOUND':
      return notFound(message)
    case 'JOB_EXISTS':
    case 'WORKFLOW_EXISTS':
    case 'SOURCE_EXISTS':
      return new HttpProblem('exists', message)
    case 'JOB_DECLARED':
      return new HttpProblem('declared-in-code', message, { fields: details })
    case 'TRANSITION_INVALID':
      return wrongState(family, message, details)
    case 'LEASE_LOST':
    case 'REVISION_CONFLICT':
      return new HttpProblem('conflict', message, { fields: details })
    case 'SPEC_INVALID':
    case 'PAYLOAD_INVALID':
    case 'HANDLER_UNKNOWN':
    case 'WORKFLOW_INVALID':
    case 'SOURCE_INVALID':
    case 'QUERY_INVALID':
      return invalid(family, message, problems)
    case 'REQUESTS_FULL':
      return new HttpProblem('requests-full', message)
    case 'QUEUE_FULL':
      return new HttpProblem('queue-full', message, { retryAfterSeconds: 5 })
    case 'RUN_FAILED':
    case 'SETTINGS_INVALID':
      return new HttpProblem('internal', 'unexpected error')
    default:
      // What the store said may name hosts and paths: that is for the log.
      return new HttpProblem('unavailable', storeText[code] ?? 'the store cannot be used', {
        retryAfterSeconds: 2,
      })
  }
}

const storeText: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: 'the store cannot be reached',
  STORE_FULL: 'the store has no room left',
  STORE_READ_ONLY: 'the store cannot be written',
  STORE_LOST: 'the store was deleted or emptied while it was open',
  SCHEDULER_STATE: 'the service is starting or stopping',
}

function fromFastify(error: FastifyError): HttpProblem | null {
  switch (error?.code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpProblem('malformed-body', 'the body is not valid JSON')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HttpProblem('body-too-large', 'the body is larger than allowed')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpProblem('unsupported-media-type', 'the body must be application/json')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return notFound()
    default:
      return null
  }
}

type Rename = (problem: Problem) => Problem

/** Names that are not in `names` stay. */
export function inFieldNames<T>(names: ReadonlyMap<string, string>, work: () => T): T {
  return renaming(
    problem => ({ ...problem, field: names.get(problem.field) ?? problem.field }),
    work,
  )
}

/** Of work that throws, and of work that rejects. */
export function renaming<T>(rename: Rename, work: () => T): T {
  const refuse = (error: unknown): never => {
    throw renamed(error, rename)
  }
  try {
    const result = work()
    return result instanceof Promise ? (result.catch(refuse) as T) : result
  } catch (error) {
    return refuse(error)
  }
}

function renamed(error: unknown, rename: Rename): unknown {
  if (!(error instanceof SchedulerError) || error.problems.length === 0) return error
  const problems = error.problems.map(rename)
  const detail = `not valid: ${problems.map(({ field }) => field).join(', ')}`
  return new SchedulerError(error.code, detail, { problems })
}
