// Which code a body may name, and the core's refusals in the words of the body.

import { isActionName } from '../../core/spec/action-name.ts'
import { SchedulerError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { NODE_KIND } from '../../core/record.ts'
import type { AppParts } from '../app/parts.ts'
import { refuseInvalid } from '../app/refusal.ts'
import type { JobBody } from './body.ts'
import { wireProblem } from './rules.ts'

/** Only code that a node has registered by this name; actions are asked for as actions. */
export async function assertHandler({ handler }: JobBody, { engine }: AppParts): Promise<void> {
  if (handler === undefined) return
  const isAction = isActionName(handler)
  const isKnown =
    !isAction && (engine.handlers.has(handler) || (await isElsewhere(handler, engine)))
  const rule = isAction ? 'is asked for as an action' : 'is not registered on any node'
  refuseInvalid('jobs', isKnown ? [] : [{ field: 'handler', value: handler, rule }])
}

async function isElsewhere(handler: string, engine: AppParts['engine']): Promise<boolean> {
  const { store, clock } = engine
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, clock.now())
  return nodes.items.some(({ value }) => {
    const names = (value as { handlers?: unknown } | null)?.handlers
    return Array.isArray(names) && names.includes(handler)
  })
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise

/** A caller must find the name they wrote, not ours. */
export function inWireNames<T>(body: JobBody, work: () => T): T {
  const isFlat = body.trigger === undefined
  try {
    const made = work()
    if (!isPromise(made)) return made
    return made.catch((error: unknown) => {
      throw renamed(error, isFlat)
    }) as T
  } catch (error) {
    throw renamed(error, isFlat)
  }
}

function renamed(error: unknown, isFlat: boolean): unknown {
  if (!(error instanceof SchedulerError) || error.problems.length === 0) return error
  const problems = error.problems.map(problem => wireProblem(problem, isFlat))
  return new SchedulerError(error.code, `not valid: ${problems.map(p => p.field).join(', ')}`, {
    problems,
  })
}
