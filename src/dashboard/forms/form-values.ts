// Between the texts that fields of forms hold and the values that the service takes: what cannot be
// read goes as it is, for the service to refuse by name.

export type Fields = Readonly<Record<string, unknown>>

export const textOf = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise

/** A number when it is one; otherwise the text itself. */
export function numberIn(text: string): unknown {
  const trimmed = text.trim()
  return trimmed === '' || Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed)
}

/** What the text says as JSON; otherwise the text itself. */
export function jsonIn(text: string): unknown {
  try {
    return text.trim() === '' ? null : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

const isPlain = (one: unknown) => typeof one === 'string' && /^[^\s,[](?:[^,]*[^\s,])?$/.test(one)

/** Texts separated by commas; as JSON where one of them has a comma itself. */
export function listText(value: unknown): string {
  const list = listOf(value)
  return list.every(isPlain) ? list.join(', ') : JSON.stringify(value)
}

export function textsIn(text: string): unknown {
  if (text.trim().startsWith('[')) return jsonIn(text)
  const parts = text.split(',').map(part => part.trim())
  return parts.filter(part => part !== '')
}

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2)

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Only what differs: what someone else changed meanwhile stays. */
export function changedFields(before: Fields, now: Fields): Record<string, unknown> {
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  )
  return Object.fromEntries(changed)
}

/** What is no longer there, said as null. */
export function goneFields(before: Fields, now: Fields): Record<string, null> {
  const gone = Object.keys(before).filter(name => now[name] === undefined)
  return Object.fromEntries(gone.map(name => [name, null]))
}
