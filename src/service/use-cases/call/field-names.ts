// The core's refusals in the words of the body that was sent: callers must find the names they wrote.

import { SchedulerError } from '../../../core/errors.ts'

/** Names that are not in `names` stay. */
export async function inFieldNames<T>(
  names: ReadonlyMap<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SchedulerError) || error.problems.length === 0) throw error
    const problems = error.problems.map(problem => ({
      ...problem,
      field: names.get(problem.field) ?? problem.field,
    }))
    const detail = `not valid: ${problems.map(({ field }) => field).join(', ')}`
    throw new SchedulerError(error.code, detail, { problems })
  }
}
