// Dot paths into JSON that came from outside: own properties only, nothing is ever called.

/** `data.items`, `items.0.id`; `.` is the value itself. Undefined when there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === '.') return value
  let at = value
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}
