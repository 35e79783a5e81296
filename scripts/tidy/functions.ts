// Finds function bodies by matching brackets in masked code, and how long each one is.
// A body counts from the line it opens on to the line it closes on.

import { lineAt } from './tree.ts'

interface Brackets {
  readonly closeOf: ReadonlyMap<number, number>
  readonly openOf: ReadonlyMap<number, number>
  /** Opening bracket → the opening bracket around it. */
  readonly outer: ReadonlyMap<number, number>
}

export interface FunctionBody {
  readonly line: number
  /** Lines of the body, without the `describe` blocks in it: those only group tests. */
  readonly lines: number
}

const matchBrackets = (code: string): Brackets => {
  const closeOf = new Map<number, number>()
  const openOf = new Map<number, number>()
  const outer = new Map<number, number>()
  const stack: number[] = []
  for (let at = 0; at < code.length; at++) {
    const char = code[at] ?? ''
    if ('([{'.includes(char)) {
      const around = stack.at(-1)
      if (around !== undefined) outer.set(at, around)
      stack.push(at)
    } else if (')]}'.includes(char)) {
      const open = stack.pop()
      if (open === undefined) continue
      closeOf.set(open, at)
      openOf.set(at, open)
    }
  }
  return { closeOf, openOf, outer }
}

const firstAfter = (code: string, at: number): number => {
  let next = at
  while (next < code.length && /\s/.test(code[next] ?? '')) next++
  return next
}

/** Offset of the `{` after a return type that begins at `at`, if the type is followed by one. */
const bodyAfterType = (code: string, at: number, { closeOf }: Brackets): number | undefined => {
  let before = ':'
  for (let next = at; next < code.length; next++) {
    const char = code[next] ?? ''
    if (char === ' ') continue
    const closing = closeOf.get(next)
    if (char === '{' && !':|&<,'.includes(before) && !/\bis$/.test(code.slice(0, next).trimEnd())) {
      return next
    }
    if (char === '\n' || ';,)=}'.includes(char)) return undefined
    if (closing !== undefined) next = closing
    before = char
  }
  return undefined
}

const control = /(?:^|[^.\w$])(?:if|for|while|switch|catch|with|await)\s*$/

/** The body of `name(…) {` or `name(…): Type {` whose parameters open at `open`. */
const bodyAfterParameters = (code: string, open: number, brackets: Brackets) => {
  const close = brackets.closeOf.get(open)
  if (close === undefined || control.test(code.slice(Math.max(0, open - 20), open)))
    return undefined
  const next = firstAfter(code, close + 1)
  if (code[next] === '{') return next
  return code[next] === ':' ? bodyAfterType(code, next + 1, brackets) : undefined
}

const bodyStarts = (code: string, brackets: Brackets): number[] => {
  const starts = new Set<number>()
  for (const match of code.matchAll(/=>\s*(?=[{(])/g)) starts.add(match.index + match[0].length)
  for (const match of code.matchAll(/\(/g)) {
    const body = bodyAfterParameters(code, match.index, brackets)
    if (body !== undefined) starts.add(body)
  }
  return [...starts].filter(at => brackets.closeOf.has(at)).toSorted((a, b) => a - b)
}

/** Whether the body is the callback of `describe(…)`, `describe.each(…)(…)` and the like. */
const isTestGroup = (code: string, body: number, { openOf, outer }: Brackets): boolean => {
  let call = outer.get(body)
  while (call !== undefined && code[call] === '(' && code[call - 1] === ')') {
    call = openOf.get(call - 1)
  }
  if (call === undefined || code[call] !== '(') return false
  return /\bdescribe(?:\.\w+)*\s*$/.test(code.slice(Math.max(0, call - 60), call))
}

/** Every function body in masked code, in order; `describe` callbacks are not functions here. */
export const functionBodies = (code: string): FunctionBody[] => {
  const brackets = matchBrackets(code)
  const spans = bodyStarts(code, brackets).map(start => ({
    start,
    end: brackets.closeOf.get(start) ?? start,
    from: lineAt(code, start),
    to: lineAt(code, brackets.closeOf.get(start) ?? start),
    isGroup: isTestGroup(code, start, brackets),
  }))
  const outermostGroups = (start: number, end: number) => {
    let past = start
    return spans.filter(({ isGroup, ...span }) => {
      if (!isGroup || span.start <= past || span.end > end) return false
      past = span.end
      return true
    })
  }
  return spans
    .filter(span => !span.isGroup)
    .map(({ start, end, from, to }) => {
      const grouped = outermostGroups(start, end).reduce((sum, g) => sum + g.to - g.from + 1, 0)
      return { line: from, lines: to - from + 1 - grouped }
    })
}
