// Blanks comments, strings, templates and regular expressions out of TypeScript text.
// A lexer, not a parser: enough to search code without tripping over prose.

interface Scan {
  readonly text: string
  readonly out: string[]
  at: number
  depth: number
  /** Brace depths at which a template's `${` was opened. */
  readonly templates: number[]
}

const beforeRegex = /(?:^|[([{,;=:?!&|+\-*%~^<>]|\b(?:return|typeof|case|in|of|void|throw|else))$/

const blank = (scan: Scan, from: number, to: number): void => {
  for (let at = from; at < to; at++) if (scan.out[at] !== '\n') scan.out[at] = ' '
}

const skipTo = (scan: Scan, end: number): void => {
  const stop = end < 0 ? scan.text.length : end
  blank(scan, scan.at, stop)
  scan.at = stop
}

const skipQuoted = (scan: Scan, quote: string): void => {
  let at = scan.at + 1
  while (at < scan.text.length && scan.text[at] !== quote && scan.text[at] !== '\n') {
    at += scan.text[at] === '\\' ? 2 : 1
  }
  blank(scan, scan.at + 1, at)
  scan.at = at + 1
}

const skipRegex = (scan: Scan): void => {
  let at = scan.at + 1
  let inClass = false
  while (at < scan.text.length && scan.text[at] !== '\n') {
    const char = scan.text[at]
    if (char === '/' && !inClass) break
    if (char === '[') inClass = true
    if (char === ']') inClass = false
    at += char === '\\' ? 2 : 1
  }
  blank(scan, scan.at + 1, at)
  scan.at = at + 1
}

/** Skips template text up to its closing backtick or the next `${`. */
const skipTemplate = (scan: Scan): void => {
  let at = scan.at
  while (at < scan.text.length && scan.text[at] !== '`') {
    if (scan.text.startsWith('${', at)) {
      blank(scan, scan.at, at + 1)
      scan.depth++
      scan.templates.push(scan.depth)
      scan.at = at + 2
      return
    }
    at += scan.text[at] === '\\' ? 2 : 1
  }
  blank(scan, scan.at, at)
  scan.at = at + 1
}

const closeBrace = (scan: Scan): void => {
  const inTemplate = scan.templates.at(-1) === scan.depth
  scan.depth--
  scan.at++
  if (!inTemplate) return
  scan.templates.pop()
  skipTemplate(scan)
}

const startsRegex = (scan: Scan): boolean => {
  const before = scan.out.slice(Math.max(0, scan.at - 200), scan.at).join('')
  return beforeRegex.test(before.trimEnd())
}

const step = (scan: Scan): void => {
  const char = scan.text[scan.at]
  const next = scan.text[scan.at + 1]
  if (char === '/' && next === '/') skipTo(scan, scan.text.indexOf('\n', scan.at))
  else if (char === '/' && next === '*') {
    const end = scan.text.indexOf('*/', scan.at + 2)
    skipTo(scan, end < 0 ? -1 : end + 2)
  } else if (char === '/' && startsRegex(scan)) skipRegex(scan)
  else if (char === "'" || char === '"') skipQuoted(scan, char)
  else if (char === '`') {
    scan.at++
    skipTemplate(scan)
  } else if (char === '}') closeBrace(scan)
  else {
    if (char === '{') scan.depth++
    scan.at++
  }
}

/** Returns text of the same length and lines in which only code is left. */
export const maskCode = (text: string): string => {
  const scan: Scan = { text, out: text.split(''), at: 0, depth: 0, templates: [] }
  if (text.startsWith('#!')) skipTo(scan, text.indexOf('\n'))
  while (scan.at < text.length) step(scan)
  return scan.out.join('')
}
