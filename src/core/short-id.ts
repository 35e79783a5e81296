// Ids in messages.

const SHOWN_MAX = 80
const SHOWN_ENDS = 38

/** An id as messages show it: a long one without its middle. */
export function shortId(id: string): string {
  if (id.length <= SHOWN_MAX) return id
  return `${id.slice(0, SHOWN_ENDS)}…${id.slice(-SHOWN_ENDS)}`
}
