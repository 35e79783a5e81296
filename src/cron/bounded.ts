// Bounded keeping in a Map: the oldest entry goes when the limit is reached.

export function keep<V>(map: Map<string, V>, limit: number, key: string, value: V): void {
  if (map.size >= limit) {
    const oldest = map.keys().next()
    if (!oldest.done) map.delete(oldest.value)
  }
  map.set(key, value)
}
