// Lists as parameters. The driver's own encoding of long lists costs many times what is below.

const SEPARATOR = '\x1f'

/** `{1,2}`: numbers only. */
export function numbers(values: readonly number[]): string {
  return `{${values.join(',')}}`
}

/** Lists that hold nothing but null are sent empty: `unnest` fills them up. */
const NOTHING = '{}'

/** As `numbers`, for lists that may hold null, which `join` would leave out. */
export function nullable(values: readonly (number | null)[]): string {
  let text = '{'
  let isNothing = true
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value !== null) isNothing = false
    text += i === 0 ? `${value}` : `,${value}`
  }
  return isNothing ? NOTHING : `${text}}`
}

/** `{"a","b",null}`, whatever the texts are made of. */
export function texts(values: readonly (string | null)[]): string {
  let text = '{'
  let isNothing = true
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ','
    const value = values[i]!
    if (value === null) text += 'null'
    else {
      isNothing = false
      text += /["\\]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`
    }
  }
  return isNothing ? NOTHING : `${text}}`
}

/**
 * JSON texts, taken apart on the other side at a character JSON never holds as it is. Nothing, as
 * an empty text, means null.
 */
export function documents(values: readonly (string | null)[]): string {
  return values.join(SEPARATOR)
}

/** The SQL that takes `documents` apart. */
export function fromDocuments(parameter: string): string {
  return `string_to_array(${parameter}, E'\\x1f')`
}

/** What `documents` put together. */
export function fromDocumentsText(text: string): string[] {
  return text.split(SEPARATOR)
}

/** `{1,2,NULL}` as the server writes it. */
export function fromNumbers(text: string | null): (number | null)[] {
  if (text === null) return []
  return text
    .slice(1, -1)
    .split(',')
    .map(part => (part === 'NULL' ? null : Number(part)))
}
