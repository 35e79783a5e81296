// How late runs began: fixed steps from a tenth of a second to more than an hour, with percentiles.

import type { Lateness } from '../data/reads.ts'
import { BarsChart } from './chart.tsx'
import { countText, spanText } from './format.ts'

type Shown = Pick<Lateness, 'count' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'max_ms' | 'buckets'>

const labels = ['0.1s', '0.5s', '1s', '5s', '15s', '1m', '5m', '15m', '1h', '>1h']

export function LatenessChart({ lateness, missed }: { lateness: Shown; missed?: number }) {
  const figures = [
    ['p50', lateness.p50_ms],
    ['p95', lateness.p95_ms],
    ['p99', lateness.p99_ms],
    ['worst', lateness.max_ms],
  ] as const
  const counts = lateness.buckets.map(({ count }) => count)
  return (
    <div class="stack">
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null ? '–' : spanText(value)}</dd>
          </div>
        ))}
        <div>
          <dt>runs</dt>
          <dd>{countText(lateness.count)}</dd>
        </div>
        {missed !== undefined && (
          <div>
            <dt>missed</dt>
            <dd>{countText(missed)}</dd>
          </div>
        )}
      </dl>
      <BarsChart
        label={`Lateness of ${lateness.count} runs: ${counts
          .map((count, at) => `${count} up to ${labels[at]}`)
          .join(', ')}`}
        labels={labels.slice(0, counts.length)}
        counts={counts}
      />
    </div>
  )
}
