// The Prometheus text format 0.0.4: every metric with its HELP and TYPE, values of labels escaped.

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

export interface Metric {
  /** Without the prefix that all share. */
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly Sample[]
}

export interface HistogramMetric {
  readonly name: string
  readonly type: 'histogram'
  readonly help: string
  readonly samples: readonly HistogramSample[]
}

export interface HistogramSample {
  readonly labels: Labels
  readonly histogram: Histogram
}

const PREFIX = 'carillon_'

/** Counts values by upper bound, as small as it can be: one is kept for every queue. */
export class Histogram {
  readonly bounds: readonly number[]
  /** By bound, not cumulated; the last is for values above all bounds. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const at = this.bounds.findIndex(bound => value <= bound)
    this.#counts[at === -1 ? this.bounds.length : at]!++
    this.#sum += value
  }

  get sum(): number {
    return this.#sum
  }

  /** How many values were not above each bound, and in the end how many there were. */
  cumulated(): number[] {
    let total = 0
    return this.#counts.map(count => (total += count))
  }
}

/** Metrics without samples are left out: what is not known is not shown as 0. */
export function exposition(metrics: readonly (Metric | HistogramMetric)[]): string {
  const lines = metrics.filter(({ samples }) => samples.length > 0).flatMap(linesOf)
  return `${lines.join('\n')}\n`
}

function linesOf(metric: Metric | HistogramMetric): string[] {
  const name = `${PREFIX}${metric.name}`
  const help = metric.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${metric.type}`]
  return metric.type === 'histogram'
    ? [...head, ...metric.samples.flatMap(sample => histogramLines(name, sample))]
    : [...head, ...metric.samples.map(({ labels, value }) => line(name, labels, value))]
}

function histogramLines(name: string, { labels, histogram }: HistogramSample): string[] {
  const counts = histogram.cumulated()
  const buckets = counts.map((count, i) => {
    const le = i < histogram.bounds.length ? String(histogram.bounds[i]) : '+Inf'
    return line(`${name}_bucket`, { ...labels, le }, count)
  })
  const total = line(`${name}_count`, labels, counts.at(-1)!)
  return [...buckets, line(`${name}_sum`, labels, histogram.sum), total]
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
