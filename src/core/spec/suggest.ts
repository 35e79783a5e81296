// "Did you mean": the known word that is closest to what was typed.

const DISTANCE_MAX = 3

/** Null when nothing is close enough to be a slip of the finger. */
export function closest(typed: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let least = Math.min(DISTANCE_MAX, Math.ceil(typed.length / 3)) + 1
  for (const word of known) {
    const far = distance(typed.toLowerCase(), word.toLowerCase())
    if (far < least) {
      least = far
      best = word
    }
  }
  return best
}

export function didYouMean(typed: string, known: Iterable<string>): string | null {
  const word = closest(typed, known)
  return word === null ? null : `did you mean ${word}?`
}

/** Letters added, dropped, changed or swapped. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > DISTANCE_MAX) return Infinity
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + cost)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
