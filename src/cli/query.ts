// `status:paused,failed queue:mail digest`: the words a list is filtered by.

import { usage } from './problem.ts'
import { didYouMean } from '../core/spec/suggest.ts'

export interface Words {
  readonly by: Readonly<Record<string, string>>
  readonly search: string | null
}

/** Words with a colon are filters of these names, the others are looked for together. */
export function readQuery(words: readonly string[], names: readonly string[]): Words {
  const by: Record<string, string> = {}
  const rest: string[] = []
  for (const word of words.flatMap(one => one.split(/\s+/)).filter(one => one !== '')) {
    const colon = word.indexOf(':')
    const name = word.slice(0, Math.max(0, colon))
    if (colon <= 0) rest.push(word)
    else if (names.includes(name)) by[name] = word.slice(colon + 1)
    else {
      const hint = didYouMean(name, names) ?? `filters: ${names.join(', ')}`
      throw usage(`there is no filter ${name}`, hint)
    }
  }
  return { by, search: rest.length === 0 ? null : rest.join(' ') }
}
