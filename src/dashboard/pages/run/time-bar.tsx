// Where the time of a run went, as one bar without gaps, and the same as a list.

import { second } from '../../clock.ts'
import type { RunDetail } from '../../data/reads.ts'
import { percentText, spanText } from '../../components/format.ts'
import { Time } from '../../components/time.tsx'
import { phaseLook } from '../../runs/words.ts'

type Segment = RunDetail['time'][number]

interface Measured extends Segment {
  readonly ms: number
  readonly isOpen: boolean
}

const WIDTH = 1_000
/** Shorter segments are still seen. */
const LEAST = 4

function measured(time: readonly Segment[], now: number): Measured[] {
  return time.map(one => ({
    ...one,
    isOpen: one.to === null,
    ms: one.duration_ms ?? Math.max(0, now - Date.parse(one.from)),
  }))
}

export function TimeBar({ run }: { readonly run: RunDetail }) {
  const segments = measured(run.time, second.value)
  if (segments.length === 0) return <p class="dim">Nothing has happened yet.</p>
  const whole = segments.reduce((sum, { ms }) => sum + ms, 0)
  const room = WIDTH - LEAST * segments.length
  let x = 0
  const rects = segments.map((one, at) => {
    const width = LEAST + (whole === 0 ? room / segments.length : (one.ms / whole) * room)
    const rect = (
      <rect key={at} class={`phase p-${one.phase}`} x={x} y={0} width={width} height={26}>
        <title>{`${phaseLook(one.phase).label}: ${spanText(one.ms)}`}</title>
      </rect>
    )
    x += width
    return rect
  })
  return (
    <div class="stack">
      <svg
        class="time-bar"
        viewBox={`0 0 ${WIDTH} 26`}
        preserveAspectRatio="none"
        role="img"
        aria-label={segments
          .map(({ phase, ms }) => `${phaseLook(phase).label} ${spanText(ms)}`)
          .join(', then ')}
      >
        {rects}
      </svg>
      <Legend segments={segments} whole={whole} run={run} />
    </div>
  )
}

interface LegendProps {
  readonly segments: readonly Measured[]
  readonly whole: number
  readonly run: RunDetail
}

function Legend({ segments, whole, run }: LegendProps) {
  const isRetried = segments.some(({ attempt }) => attempt > 1)
  return (
    <>
      <ol class="phases">
        {segments.map(({ phase, attempt, from, ms, isOpen }, at) => (
          <li key={at}>
            <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`phase p-${phase}`} width="10" height="10" rx="2" />
            </svg>
            <span>
              <strong>{phaseLook(phase).label}</strong>
              {isRetried && <span class="dim"> attempt {attempt}</span>}
              <span class="dim small phase-about">{phaseLook(phase).about}</span>
            </span>
            <span class="numbers">
              {spanText(ms)}
              {isOpen && ' so far'}
            </span>
            <span class="dim small">
              from <Time at={from} show="moment" hasSeconds />
            </span>
          </li>
        ))}
      </ol>
      <p class="dim small">{verdict(segments, whole, run)}</p>
    </>
  )
}

/** Which part took the most, in one sentence. */
function verdict(segments: readonly Measured[], whole: number, run: RunDetail): string {
  if (whole === 0) return 'All of it took less than a millisecond.'
  const sums = new Map<string, number>()
  for (const { phase, ms } of segments) sums.set(phase, (sums.get(phase) ?? 0) + ms)
  const [most, ms] = [...sums].sort((a, b) => b[1] - a[1])[0]!
  const late = run.late_ms === null ? '' : ` It began ${spanText(run.late_ms)} late.`
  const share = percentText(ms / whole)
  return `${spanText(whole)} in all; ${share} of it ${phaseLook(most).label.toLowerCase()}.${late}`
}
