// Lists as parameters. The driver's own encoding of long lists costs many times what is below.

const SEPARATOR = '\x1f'

/** `{1,2}`: numbers only. */
export function numbers(values: readonly number[]): string {
  return `{${values.join(',')}}`
}

/** As `numbers`, for lists that may hold null, which `join` would leave out. */
export function nullable(values: readonly (number | null)[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) text += i === 0 ? `${values[i]}` : `,${values[i]}`
  return `${text}}`
}

/** `{"a","b",null}`, whatever the texts are made of. */
export function texts(values: readonly (string | null)[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ','
    const value = values[i]!
    if (value === null) text += 'null'
    else text += /["\\]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`
  }
  return `${text}}`
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
