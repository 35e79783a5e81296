// Lists as parameters. The driver's own encoding of long lists costs many times what is below.

const SEPARATOR = '\x1f'

/** `{1,2}`: numbers only. */
export function numbers(values: readonly number[]): string {
  return isOne(values) ? repeated(String(values[0]), values.length) : `{${values.join(',')}}`
}

/** Many lists hold one value again and again, which is written at once. */
function isOne(values: readonly unknown[]): boolean {
  const [first] = values
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return false
  return values.length > 0
}

function repeated(text: string, count: number): string {
  return `{${`${text},`.repeat(count - 1)}${text}}`
}

/** Lists that hold nothing but null are sent empty: what is not in a list is null too. */
export const NOTHING = '{}'

/** A list that holds one value again and again is sent with that value alone. */
export function alike(values: readonly (number | null)[]): string {
  if (!isOne(values)) return nullable(values)
  return values[0] === null ? NOTHING : `{${values[0]}}`
}

export function alikeTexts(values: readonly (string | null)[]): string {
  return isOne(values) ? texts(values.slice(0, 1)) : texts(values)
}

export function alikeDocuments(values: readonly string[]): string {
  return documents(isOne(values) ? values.slice(0, 1) : values)
}

/** As `numbers`, for lists that may hold null, which `join` would leave out. */
export function nullable(values: readonly (number | null)[]): string {
  if (isOne(values)) {
    return values[0] === null ? NOTHING : repeated(String(values[0]), values.length)
  }
  let text = '{'
  for (let i = 0; i < values.length; i++) text += i === 0 ? `${values[i]}` : `,${values[i]}`
  return `${text}}`
}

/** `{"a","b",null}`, whatever the texts are made of. */
export function texts(values: readonly (string | null)[]): string {
  if (isOne(values)) {
    return values[0] === null ? NOTHING : repeated(quoted(values[0]!), values.length)
  }
  let text = '{'
  for (let i = 0; i < values.length; i++)
    text += i === 0 ? quoted(values[i]!) : `,${quoted(values[i]!)}`
  return `${text}}`
}

const ESCAPED = /["\\]/

function quoted(value: string | null): string {
  if (value === null) return 'null'
  return ESCAPED.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`
}

/**
 * JSON texts, taken apart on the other side at a character JSON never holds as it is. Nothing, as
 * an empty text, means null.
 */
export function documents(values: readonly (string | null)[]): string {
  return values.join(SEPARATOR)
}

/** The same for plain texts, which must not hold that character. */
export function separated(values: readonly string[]): string {
  const odd = values.find(value => value.includes(SEPARATOR))
  if (odd !== undefined) throw new RangeError(`an id must not hold U+001F: ${JSON.stringify(odd)}`)
  return values.join(SEPARATOR)
}

/** The SQL that takes `documents` apart. */
export function fromDocuments(parameter: string): string {
  return `string_to_array(${parameter}, E'\\x1f')`
}

/** The SQL that gives lists sent with one value their length, so that they are read by position. */
export function writtenOut(lists: readonly string[], count: string): string {
  return lists
    .map(
      list => `if cardinality(${list}) = 1 then
        ${list} := array_fill(${list}[1], array[${count}]); end if;`,
    )
    .join(' ')
}

/** What `documents` put together. */
export function fromDocumentsText(text: string): string[] {
  return text.split(SEPARATOR)
}

/** `{1,2,NULL}` as the server writes it. */
export function fromNumbers(text: string | null): (number | null)[] {
  if (text === null || text === NOTHING) return []
  return text
    .slice(1, -1)
    .split(',')
    .map(part => (part === 'NULL' ? null : Number(part)))
}
