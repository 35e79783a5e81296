// Finding one's way in a text of JSON without parsing it.

const BACKSLASH = 92

/** Where the string that begins at `from` has its closing quote; null when it has none. */
export function endOfString(text: string, from: number): number | null {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return null
}
