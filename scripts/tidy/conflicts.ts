// No leftovers of a merge: the markers git writes where two sides changed the same lines.

import { problem } from './tree.ts'
import type { Problem, Tree } from './tree.ts'

/** `=======` is left out: it also underlines headings, and it never stands without the other two. */
const marker = /^(?:<{7}|\|{7}|>{7})(?: |\r?$)/

export const checkConflicts = (tree: Tree): Problem[] =>
  [...tree.values()].flatMap(file =>
    file.lines.flatMap((text, index) =>
      marker.test(text) ? [problem(file, index + 1, 'conflicts', 'merge-conflict marker')] : [],
    ),
  )
