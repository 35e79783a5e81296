// Which step needs which: cycles by name, and everything a step can rely on.

export interface Link {
  readonly id: string
  readonly needs: readonly string[]
}

/** Each cycle once, as the way around it: the first name is also the last. */
export function cyclesOf(links: readonly Link[]): string[][] {
  // Of two with one name, which is a fault of its own, the first counts.
  const left = new Map<string, readonly string[]>()
  for (const { id, needs } of links) if (!left.has(id)) left.set(id, needs)
  const cycles: string[][] = []
  for (;;) {
    shed(left)
    const first = left.keys().next()
    if (first.done) return cycles
    const cycle = around(left, first.value)
    cycles.push(cycle)
    for (const id of cycle) left.delete(id)
  }
}

/** Takes away what can be run: what stays needs itself, directly or not. */
function shed(left: Map<string, readonly string[]>): void {
  let before: number
  do {
    before = left.size
    for (const [id, needs] of left) {
      if (!needs.some(need => left.has(need))) left.delete(id)
    }
  } while (left.size < before)
}

function around(left: ReadonlyMap<string, readonly string[]>, start: string): string[] {
  const way: string[] = []
  let at = start
  while (!way.includes(at)) {
    way.push(at)
    at = left.get(at)!.find(need => left.has(need))!
  }
  return [...way.slice(way.indexOf(at)), at]
}

/** Every step that is over when the given one starts, however far back. */
export function reachOf(links: readonly Link[], id: string): ReadonlySet<string> {
  const byId = new Map(links.map(link => [link.id, link.needs]))
  const reach = new Set<string>()
  const open = [...(byId.get(id) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reach.has(next)) continue
    reach.add(next)
    open.push(...(byId.get(next) ?? []))
  }
  return reach
}
