// The list of checks, and one run over all of them.

import { checkAmbient } from './ambient.ts'
import { checkConflicts } from './conflicts.ts'
import { checkBarrels, checkCycles } from './cycles.ts'
import { checkErrorDocs } from './error-docs.ts'
import { checkHeaders } from './headers.ts'
import { checkLayering } from './layering.ts'
import { checkLeaks } from './leaks.ts'
import { checkMarks } from './marks.ts'
import { checkSizes } from './sizes.ts'
import type { Check, Problem, Tree } from './tree.ts'
import { checkWords } from './words.ts'

export const checks: readonly Check[] = [
  checkLayering,
  checkCycles,
  checkBarrels,
  checkSizes,
  checkAmbient,
  checkWords,
  checkMarks,
  checkHeaders,
  checkErrorDocs,
  checkLeaks,
  checkConflicts,
]

const byPlace = (a: Problem, b: Problem): number =>
  a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1

export const runChecks = (tree: Tree): Problem[] =>
  checks.flatMap(check => check(tree)).toSorted(byPlace)

export const formatProblem = ({ path, line, rule, message, level }: Problem): string =>
  `${path}:${line}  ${rule}  ${level === 'warning' ? 'warning: ' : ''}${message}`
