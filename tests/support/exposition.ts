// Reads the Prometheus text format 0.0.4 and refuses what a scraper would refuse.

export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly series: readonly Series[]
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/
const VALUE = /^(?:[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i

export function parseExposition(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, { type?: string; help?: string; series: Series[] }>()
  let open = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment) {
      const [, kind, name, rest] = comment
      const key = kind === 'HELP' ? 'help' : 'type'
      const family = families.get(name!) ?? { series: [] }
      if (family[key] !== undefined) throw new Error(`${kind} twice: ${line}`)
      if (family.series.length > 0) throw new Error(`${kind} after samples: ${line}`)
      family[key] = rest!
      families.set(name!, family)
      open = name!
      continue
    }
    const series = sampleOf(line)
    const family = families.get(open)
    if (!family || family.type === undefined || family.help === undefined) {
      throw new Error(`a sample without HELP and TYPE: ${line}`)
    }
    const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    if (!suffixes.some(suffix => series.name === open + suffix)) {
      throw new Error(`a sample under ${open}: ${line}`)
    }
    family.series.push(series)
  }
  const all = [...families].map(([name, { type, help, series }]) => {
    if (series.length === 0) throw new Error(`${name} has no samples`)
    return { name, type: type!, help: help!, series }
  })
  for (const family of all) check(family)
  return all
}

function sampleOf(line: string): Series {
  const match = SAMPLE.exec(line)
  if (!match || !VALUE.test(match[3]!)) throw new Error(`not a sample: ${line}`)
  const labels: Record<string, string> = {}
  for (let rest = match[2] ?? ''; rest !== '';) {
    const label = LABEL.exec(rest)
    if (!label) throw new Error(`not a label: ${rest}`)
    const [, name = '', value = ''] = label
    if (Object.hasOwn(labels, name)) throw new Error(`a label twice: ${line}`)
    labels[name] = value.replace(/\\([\\"n])/g, (_, c: string) => (c === 'n' ? '\n' : c))
    rest = rest.slice(label[0].length)
  }
  return { name: match[1]!, labels, value: Number(match[3]!.replace('Inf', 'Infinity')) }
}

function keyOf(labels: Series['labels']): string {
  const names = Object.keys(labels).sort()
  return JSON.stringify(names.map(name => [name, labels[name]]))
}

function check({ name, type, series }: Family): void {
  const seen = new Set<string>()
  for (const one of series) {
    const key = `${one.name} ${keyOf(one.labels)}`
    if (seen.has(key)) throw new Error(`a series twice: ${key}`)
    seen.add(key)
    if (type === 'counter' && !(one.value >= 0)) throw new Error(`${key} counts ${one.value}`)
  }
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter`)
  if (type === 'histogram') checkHistogram(name, series)
}

function checkHistogram(name: string, series: readonly Series[]): void {
  const groups = new Map<string, Series[]>()
  for (const one of series) {
    const { le: _, ...labels } = one.labels
    const key = keyOf(labels)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const [key, group] of groups) {
    const buckets = group.filter(one => one.name === `${name}_bucket`)
    const count = group.find(one => one.name === `${name}_count`)?.value
    const sum = group.find(one => one.name === `${name}_sum`)?.value
    const bounds = buckets.map(({ labels }) => Number(labels['le']!.replace('Inf', 'Infinity')))
    const counts = buckets.map(({ value }) => value)
    const isRising = (values: number[]) =>
      values.every((one, i) => i === 0 || one >= values[i - 1]!)
    if (bounds.at(-1) !== Infinity || counts.at(-1) !== count || sum === undefined) {
      throw new Error(`${name}${key}: +Inf, _sum and _count do not fit`)
    }
    if (!isRising(bounds) || !isRising(counts)) throw new Error(`${name}${key} is not cumulative`)
  }
}

/** The value of the one series with these labels; undefined when there is none. */
export function valueOf(
  families: readonly Family[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = families.flatMap(({ series }) => series).filter(one => one.name === name)
  const found = all.filter(one => {
    const names = new Set([...Object.keys(labels), ...Object.keys(one.labels)])
    return [...names].every(label => labels[label] === one.labels[label])
  })
  return found[0]?.value
}
