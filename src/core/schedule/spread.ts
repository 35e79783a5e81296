// Deterministic spreading: the same text always lands on the same share of a span, so jitter needs
// no randomness and survives restarts.

/** FNV-1a over UTF-16 units: not secret, only even. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  // One round of mixing: FNV leaves the high bits of short texts poor.
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  return hash >>> 0
}

/** A whole number of milliseconds in [0, spanMs). */
export function spreadMs(text: string, spanMs: number): number {
  return Math.floor((hash32(text) / 0x1_0000_0000) * spanMs)
}
