// How deep and broad a text of JSON is, found without parsing it: a text made to be slow to parse is
// refused for the price of one look at its characters.

import { endOfString } from '../../core/json/json-text.ts'

export interface JsonBounds {
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
}

/** Lists and objects in one text; what a body of the usual size could hold at most. */
export const CONTAINERS_MAX = 100_000

const QUOTE = 34
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** What is too much, as the end of a sentence; null when nothing is. A text that is no JSON may pass. */
export function excessOf(text: string, { jsonDepthMax, jsonKeysMax }: JsonBounds): string | null {
  let [depth, containers, keys] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at) ?? text.length
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (depth++ > jsonDepthMax) return `is nested deeper than ${jsonDepthMax}`
        if (++containers > CONTAINERS_MAX) {
          return `has more than ${CONTAINERS_MAX} lists and objects`
        }
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--
        break
      case COLON:
        if (++keys > jsonKeysMax) return `has more than ${jsonKeysMax} keys`
    }
  }
  return null
}
