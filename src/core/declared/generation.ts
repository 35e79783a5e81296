// Generations of declarations, in their order.

/** Natural order: digits compare as numbers, so 2026-11-9 comes before 2026-11-15 and 9 before 10. */
export function compareGenerations(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? []
  const right = b.match(/\d+|\D+/g) ?? []
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const x = left[i] ?? ''
    const y = right[i] ?? ''
    const bothNumbers = /^\d/.test(x) && /^\d/.test(y)
    const order = bothNumbers ? Number(x) - Number(y) : x < y ? -1 : x > y ? 1 : 0
    if (order !== 0) return Math.sign(order)
  }
  return 0
}
