// How scripts take arguments: flags, what may be missing, and where a walk by name begins.

import { toKey } from '../shared/text.ts'

export const flag = (is: boolean): string => (is ? '1' : '0')

/** '-' is anything; behind '=' is the value that is wanted. */
export const wanted = (text: string | null | undefined): string =>
  text === null || text === undefined ? '-' : `=${toKey(text)}`

/** The near end of a walk by name, behind the mark. */
export function nameFrom(mark: string | null, isNewest: boolean): string {
  if (mark === null) return isNewest ? '+' : '-'
  return `(${mark}`
}

/** Fields and values one after another. */
export function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!])
  return pairs
}
