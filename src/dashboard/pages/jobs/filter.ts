// The filter of the list of jobs: words and qualifiers such as `status:paused,failed tag:billing`.
// What it means is what the service can answer; anything else is told, not ignored.

export interface JobFilter {
  readonly status: string | null
  readonly tag: string | null
  readonly tenant: string | null
  readonly queue: string | null
  readonly handler: string | null
  /** How far ahead the next moment is: `<1h`. */
  readonly next: string | null
  /** For how long it is due and not started: `>30s`. */
  readonly late: string | null
  /** How the last attempt ended. */
  readonly last: string | null
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

export const qualifiers = [
  'status',
  'tag',
  'tenant',
  'queue',
  'handler',
  'next',
  'late',
  'last',
] as const
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

const lastWords = ['completed', 'failed', 'cancelled', 'never'] as const

/** Qualifiers that take words of a list, and those words. */
const wordsOf: Readonly<Partial<Record<Qualifier, readonly string[]>>> = {
  status: statusWords,
  last: lastWords,
}

/** Qualifiers that take a length of time, with what to offer. */
const spansOf: Readonly<Partial<Record<Qualifier, readonly string[]>>> = {
  next: ['<1h', '<24h', '>7d'],
  late: ['>30s', '>5m', '>1h'],
}

const spanPattern = /^[<>]\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h|d|w)$/

const empty: JobFilter = {
  status: null,
  tag: null,
  tenant: null,
  queue: null,
  handler: null,
  next: null,
  late: null,
  last: null,
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
  const key = name.toLowerCase() as Qualifier
  if (!qualifiers.includes(key)) {
    return `not known; there are ${qualifiers.join(', ')}`
  }
  if (value === '') return 'has no value yet'
  if (filter[key] !== null) return 'is there twice'
  if (spansOf[key] && !spanPattern.test(value)) {
    return `needs < or > and a length of time, such as ${spansOf[key][0]}`
  }
  const words = wordsOf[key]
  const wrong = words ? value.split(',').filter(word => !words.includes(word)) : []
  return wrong.length === 0 ? null : `${wrong.join(', ')} is none of ${words!.join(', ')}`
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
  const spans = spansOf[key as Qualifier] ?? []
  if (spans.length > 0) return spans.map(span => `${key}:${span}`)
  const parts = value.split(',')
  const last = parts.pop() ?? ''
  return (wordsOf[key as Qualifier] ?? [])
    .filter(word => word.startsWith(last) && !parts.includes(word))
    .map(word => `${key}:${[...parts, word].join(',')}`)
}
