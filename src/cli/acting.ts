// One verb for the things a person names: checked first, shown on a dry run, asked about when it
// cannot be taken back, and each told how it went.

import { exits } from './exits.ts'
import type { Context } from './context.ts'
import { fail } from './fail.ts'
import { safe } from './screen.ts'

/** From so many on a person is asked, whatever the verb. */
const MANY = 10

export interface Deed<T> {
  /** What it is called in front of people. */
  readonly nameOf: (thing: T) => string
  /** `would pause`: the words of a dry run. */
  readonly would: (thing: T) => string
  /** Throws what the service would say; asked before anything is done. */
  readonly check?: (thing: T) => void
  /** The question, when it cannot be taken back. */
  readonly question?: (things: readonly T[]) => string
  /** Does it and answers with the resource. */
  readonly act: (thing: T) => Promise<unknown>
  /** What happened, for people. */
  readonly told: (thing: T, resource: unknown) => string
}

export async function actOnAll<T>(
  context: Context,
  things: readonly T[],
  deed: Deed<T>,
): Promise<number> {
  const { globals } = context
  if (globals.isDryRun) return dryRun(context, things, deed)
  if (!(await isMeant(context, things, deed))) return exits.failed
  const done: unknown[] = []
  const codes: number[] = []
  for (const thing of things) {
    try {
      const resource = await deed.act(thing)
      done.push(resource)
      if (!globals.json) context.say(safe(deed.told(thing, resource)))
    } catch (error) {
      context.signal.throwIfAborted()
      codes.push(fail(error, globals))
    }
  }
  if (globals.json && done.length > 0) context.json(things.length === 1 ? done[0] : done)
  if (codes.length === 0) return exits.ok
  return done.length > 0 ? exits.partly : codes[0]!
}

function dryRun<T>(context: Context, things: readonly T[], deed: Deed<T>): number {
  const { globals } = context
  const codes: number[] = []
  const would: { readonly name: string; readonly would: string }[] = []
  for (const thing of things) {
    try {
      deed.check?.(thing)
      would.push({ name: deed.nameOf(thing), would: deed.would(thing) })
    } catch (error) {
      codes.push(fail(error, globals))
    }
  }
  if (globals.json) context.json({ dry_run: true, would })
  else for (const one of would) context.print(safe(`would ${one.would}`))
  if (codes.length === 0) return exits.ok
  return would.length > 0 ? exits.partly : codes[0]!
}

async function isMeant<T>(
  context: Context,
  things: readonly T[],
  { question, would }: Deed<T>,
): Promise<boolean> {
  if (question !== undefined) return context.confirm(question(things))
  if (things.length < MANY) return true
  return context.confirm(`This will ${would(things[0]!)} and ${things.length - 1} more. Go on?`)
}
