// What forms offer where work is named: the handlers that nodes have, and the methods of requests.

import { never, useRead } from '../data/read.ts'
import { reads } from '../data/reads.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map(
  method => [method, method] as const,
)

/** Without those of actions, which are chosen another way. */
export function useHandlerNames(): readonly string[] {
  const { data } = useRead(reads.system(), never)
  const known = data?.nodes.flatMap(({ handlers }) => handlers ?? []) ?? []
  return [...new Set(known)].filter(name => !name.startsWith('action:')).sort()
}
