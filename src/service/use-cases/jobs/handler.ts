// Which code a body may name, and the core's refusals in the words of the body.

import { isActionName } from '../../../core/action-name.ts'
import { limits } from '../../../core/limits.ts'
import { NODE_KIND } from '../../../engine/node-record.ts'
import type { Services } from '../call/call.ts'
import { renaming } from '../call/field-names.ts'
import { refuseInvalid } from '../call/refusal.ts'
import type { JobBody } from './body.ts'
import { wireProblem } from './rules.ts'

/** Only code that a node has registered by this name; actions are asked for as actions. */
export async function assertHandler({ handler }: JobBody, { engine }: Services): Promise<void> {
  if (handler === undefined) return
  const isAction = isActionName(handler)
  const isKnown =
    !isAction && (engine.handlers.has(handler) || (await isElsewhere(handler, engine)))
  const rule = isAction ? 'is asked for as an action' : 'is not registered on any node'
  refuseInvalid('jobs', isKnown ? [] : [{ field: 'handler', value: handler, rule }])
}

async function isElsewhere(handler: string, engine: Services['engine']): Promise<boolean> {
  const { store, clock } = engine
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, clock.now())
  return nodes.items.some(({ value }) => {
    const names = (value as { handlers?: unknown } | null)?.handlers
    return Array.isArray(names) && names.includes(handler)
  })
}

/** A caller must find the name they wrote, not ours. */
export function inWireNames<T>(body: JobBody, work: () => T): T {
  return renaming(problem => wireProblem(problem, body.trigger === undefined), work)
}
