// The source action: fetches what a source describes. A source is a job that does this.

import { z } from 'zod'
import type { Action } from '../actions/action.ts'
import { checkUrl } from '../actions/guard/url.ts'
import { Skip } from '../core/run/outcome.ts'
import { betweenProblems, urlProblems } from './check.ts'
import { SourceFetch, type FetchParts } from './fetch.ts'
import { fetchShape } from './shape.ts'
import { ACTION_KIND, isActive } from './spec.ts'

export const sourceSettings = fetchShape.extend({ kind: z.literal(ACTION_KIND) })
export type SourceSettings = z.output<typeof sourceSettings>

/** Without a place for tables a node leaves sources to others. */
export function sourceAction(
  parts: Omit<FetchParts, 'tables'> & { readonly tables: FetchParts['tables'] | null },
): Action<SourceSettings> {
  const { tables, outbound } = parts
  return {
    kind: ACTION_KIND,
    isAllowed: tables !== null,
    schema: sourceSettings,
    check: (settings, field) =>
      [
        ...betweenProblems(settings),
        ...urlProblems(settings.url, url => checkUrl(url, outbound.allow).rule),
      ].map(problem => ({ ...problem, field: `${field}.${problem.field}` })),
    // Secrets are named in it, never held.
    shown: settings => settings,
    perform: async (settings, { context }) => {
      if (tables === null) throw new Error('this node has no place for tables')
      if (!isActive(context.job.spec)) throw new Skip('the source is not active')
      return new SourceFetch({ ...parts, tables }, settings, context).run()
    },
  }
}
