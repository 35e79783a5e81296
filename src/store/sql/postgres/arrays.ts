// Lists as parameters. The driver's own encoding of long lists costs many times what is below.

const SEPARATOR = '\x1f'
/** What is not in a list is null where it is read beside longer ones. */
const NOTHING = '{}'

/** Many lists hold one value repeatedly, which is written at once. */
function isOne(values: readonly unknown[]): boolean {
  const [first] = values
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return false
  return values.length > 0
}

function repeated(text: string, count: number): string {
  return `{${`${text},`.repeat(count - 1)}${text}}`
}

/** `{1,2,null}`; a list of nulls alone is empty. */
export function numbers(values: readonly (number | null)[]): string {
  if (isOne(values)) {
    return values[0] === null ? NOTHING : repeated(String(values[0]), values.length)
  }
  // A null is left out by `join`.
  const parts = values.includes(null) ? values.map(String) : values
  return `{${parts.join(',')}}`
}

/** `{"a","b",null}`, whatever the texts are made of; a list of nulls alone is empty. */
export function texts(values: readonly (string | null)[]): string {
  if (isOne(values)) {
    return values[0] === null ? NOTHING : repeated(quoted(values[0]!), values.length)
  }
  return `{${values.map(quoted).join(',')}}`
}

const ESCAPED = /["\\]/

function quoted(value: string | null): string {
  if (value === null) return 'null'
  return ESCAPED.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`
}

/** Texts of JSON, taken apart on the other side; nothing, as an empty text, means null. */
export function joined(values: readonly (string | null)[]): string {
  return values.join(SEPARATOR)
}
