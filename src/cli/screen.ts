// What the terminal can show: how wide it is, whether it has colours and more than ASCII.

import process from 'node:process'

export const styles = {
  ok: 32,
  failed: 31,
  running: 34,
  retry: 33,
  wait: 39,
  skip: 90,
  cancel: 35,
  faint: 90,
  bold: 1,
} as const

export type Style = keyof typeof styles

export interface Screen {
  /** Null when the output goes to a file or another program: nothing is cut then. */
  readonly width: number | null
  readonly paint: (style: Style, text: string) => string
  readonly hasUnicode: boolean
}

export function screenOf(hasColor: boolean): Screen {
  const { stdout, env } = process
  const isTerminal = stdout.isTTY
  const paints = hasColor && isTerminal
  return {
    width: isTerminal ? (stdout.columns ?? 80) : null,
    paint: (style, text) =>
      paints && text !== '' ? `${ESCAPE}[${styles[style]}m${text}${ESCAPE}[0m` : text,
    hasUnicode: isUnicode(env),
  }
}

function isUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale === '' ? env['TERM'] !== 'linux' : /utf-?8/i.test(locale)
}

/** Text from elsewhere must not move the cursor or colour the screen. */
export function safe(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, found => (found === '\t' ? ' ' : '\uFFFD'))
}

const ESCAPE = '\u001b'
const colour = new RegExp(`${ESCAPE}\\[\\d+m`, 'g')
/** Letters of two cells: those of East Asia, and pictures. */
const wide = new RegExp(
  '[\\u1100-\\u115F\\u2E80-\\uA4CF\\uAC00-\\uD7A3\\uF900-\\uFAFF\\uFE30-\\uFE6F' +
    '\\uFF00-\\uFF60\\u{1F300}-\\u{1FAFF}\\u{20000}-\\u{3FFFD}]',
  'u',
)

/** Cells of the terminal a text takes. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text.replaceAll(colour, '')) {
    if (!/\p{M}/u.test(letter)) width += wide.test(letter) ? 2 : 1
  }
  return width
}

/** Cut to so many cells, with a mark where something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const letter of text) {
    const size = widthOf(letter)
    if (used + size > width - 1) break
    kept += letter
    used += size
  }
  return `${kept}…`
}
