// The core's refusals in the words of the body that was sent: callers must find the names they wrote.

import { SchedulerError, type Problem } from '../../../core/errors.ts'

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
