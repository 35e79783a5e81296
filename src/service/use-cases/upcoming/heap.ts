// Many sequences, each in order, read as one in order: the one with the least head goes next.

interface Head<T> {
  value: T
  readonly rest: Iterator<T, void, void>
}

/** At most `max` items; ties are in no particular order. */
export function mergeSorted<T>(
  sequences: readonly Iterator<T, void, void>[],
  keyOf: (item: T) => number,
  max: number,
): T[] {
  const heap: Head<T>[] = []
  for (const rest of sequences) {
    const first = rest.next()
    if (!first.done) heap.push({ value: first.value, rest })
  }
  const key = (at: number) => keyOf(heap[at]!.value)
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(heap, at, key)
  const found: T[] = []
  while (heap.length > 0 && found.length < max) {
    const top = heap[0]!
    found.push(top.value)
    const next = top.rest.next()
    if (!next.done) top.value = next.value
    else {
      const last = heap.pop()!
      if (heap.length > 0) heap[0] = last
    }
    sink(heap, 0, key)
  }
  return found
}

function sink<T>(heap: Head<T>[], from: number, key: (at: number) => number): void {
  for (let at = from; ;) {
    const left = 2 * at + 1
    let least = at
    if (left < heap.length && key(left) < key(least)) least = left
    if (left + 1 < heap.length && key(left + 1) < key(least)) least = left + 1
    if (least === at) return
    const held = heap[at]!
    heap[at] = heap[least]!
    heap[least] = held
    at = least
  }
}
