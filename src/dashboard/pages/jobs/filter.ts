// The filter of the list of jobs: words and qualifiers such as `status:paused,failed tag:billing`.
// What it means is what the service can answer; anything else is told, not ignored.

export interface JobFilter {
  readonly status: string | null
  readonly tag: string | null
  readonly tenant: string | null
  readonly queue: string | null
  readonly handler: string | null
  /** Part of a name or an id. */
  readonly search: string | null
}

export interface Parsed {
  readonly filter: JobFilter
  readonly chips: readonly Chip[]
}

export interface Chip {
  readonly text: string
  /** Why it does not count; null when it does. */
  readonly fault: string | null
}

export const qualifiers = ['status', 'tag', 'tenant', 'queue', 'handler'] as const
type Qualifier = (typeof qualifiers)[number]

export const statusWords = [
  'pending',
  'scheduled',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const

const empty: JobFilter = {
  status: null,
  tag: null,
  tenant: null,
  queue: null,
  handler: null,
  search: null,
}

export function parseFilter(text: string): Parsed {
  let filter = empty
  const words: string[] = []
  const chips: Chip[] = []
  for (const token of tokensOf(text)) {
    const [, name, value] = /^([a-z_]+):(.*)$/is.exec(token) ?? []
    if (name === undefined || value === undefined) {
      words.push(token)
      continue
    }
    const fault = faultOf(name, value, filter)
    chips.push({ text: token, fault })
    if (fault === null) filter = { ...filter, [name.toLowerCase()]: value }
  }
  const search = words.join(' ')
  return { filter: search === '' ? filter : { ...filter, search }, chips }
}

/** Words, with quotes around those that hold a space: `tag:"two words"`. */
function tokensOf(text: string): string[] {
  const found = text.match(/(?:[^\s"]+|"[^"]*"?)+/g) ?? []
  return found.map(token => token.replaceAll('"', '')).filter(token => token !== '')
}

function faultOf(name: string, value: string, filter: JobFilter): string | null {
  const key = name.toLowerCase()
  if (!qualifiers.includes(key as Qualifier)) {
    return `not known; there are ${qualifiers.join(', ')}`
  }
  if (value === '') return 'has no value yet'
  if (filter[key as Qualifier] !== null) return 'is there twice'
  if (key !== 'status') return null
  const wrong = value.split(',').filter(word => !statusWords.includes(word as 'paused'))
  return wrong.length === 0 ? null : `${wrong.join(', ')} is not a status`
}

/** Completions of the word under the cursor: keys, then values after the colon. */
export function completions(text: string, tenants: readonly string[] = []): string[] {
  const last = /\S*$/.exec(text)![0]
  const before = text.slice(0, text.length - last.length)
  const [, key, value] = /^([a-z]+):(.*)$/i.exec(last) ?? []
  const options =
    key === undefined
      ? qualifiers.filter(name => name.startsWith(last.toLowerCase())).map(name => `${name}:`)
      : valuesOf(key, value ?? '', tenants)
  return options.map(option => before + option)
}

function valuesOf(key: string, value: string, tenants: readonly string[]): string[] {
  if (key === 'tenant') {
    return tenants.filter(name => name.startsWith(value)).map(name => `tenant:${name}`)
  }
  if (key !== 'status') return []
  const parts = value.split(',')
  const last = parts.pop() ?? ''
  return statusWords
    .filter(word => word.startsWith(last) && !parts.includes(word))
    .map(word => `status:${[...parts, word].join(',')}`)
}
