// Charts by uPlot, in the colours of the theme and as wide as their place.

import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { theme, zoneChoice, zoneFor } from '../view.ts'
import { axisText, spanText } from './format.ts'

/** A token's colour as the theme resolves it now: a canvas knows no variables. */
function colour(token: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(--${token})`
  document.body.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

interface ChartProps {
  readonly label: string
  readonly height: number
  readonly data: uPlot.AlignedData
  readonly options: () => Omit<uPlot.Options, 'width' | 'height'>
}

function Chart({ label, height, data, options }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const key = `${theme.value} ${zoneChoice.value} ${JSON.stringify(data)}`
  useEffect(() => {
    const element = place.current!
    let plot: uPlot | null = null
    const draw = () => {
      plot?.destroy()
      plot = new uPlot({ ...options(), width: element.clientWidth, height }, data, element)
    }
    draw()
    const sized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }))
    sized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      sized.disconnect()
      scheme.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [key])
  return <div class="chart" ref={place} role="img" aria-label={label} />
}

function axis(more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: colour('dim'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    gap: 6,
    ...more,
  }
}

interface BarsProps {
  readonly label: string
  readonly labels: readonly string[]
  readonly counts: readonly number[]
}

/** Counts of named steps. */
export function BarsChart({ label, labels, counts }: BarsProps) {
  const xs = labels.map((_, at) => at)
  const options = () => ({
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.6, labels.length - 0.4] as uPlot.Range.MinMax },
      y: {
        range: (_plot: uPlot, _min: number, max: number) =>
          [0, Math.max(1, max * 1.1)] as uPlot.Range.MinMax,
      },
    },
    axes: [
      axis({
        splits: () => xs,
        values: plot => {
          // Every second name where there is no room for all.
          const step = plot.width < 46 * labels.length ? 2 : 1
          return labels.map((text, at) => (at % step === 0 ? text : ''))
        },
        grid: { show: false },
        size: 26,
      }),
      axis({ size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000] }),
    ],
    series: [
      {},
      {
        fill: colour('chart'),
        stroke: colour('chart'),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.7, 60], radius: 0.15 }),
      },
    ],
  })
  return <Chart label={label} height={150} data={[xs, [...counts]]} options={options} />
}

export interface Point {
  /** Milliseconds. */
  readonly at: number
  readonly ms: number
  readonly isFailed: boolean
}

interface PointsProps {
  readonly label: string
  readonly points: readonly Point[]
  /** Lines across, such as the median. */
  readonly levels: readonly { readonly ms: number; readonly isDashed: boolean }[]
}

const isPowerOfTen = (value: number) => Number.isInteger(Math.log10(value))

function dots(token: string): uPlot.Series {
  return {
    paths: () => null,
    points: { show: true, size: 6, width: 0, fill: colour(token) },
    stroke: colour(token),
  }
}

/** Lengths of time over time, on a scale where twice as long is one step more. */
export function PointsChart({ label, points, levels }: PointsProps) {
  const sorted = points.toSorted((a, b) => a.at - b.at)
  const of = (isFailed: boolean) =>
    sorted.map(point => (point.isFailed === isFailed ? Math.max(1, point.ms) : null))
  const data: uPlot.AlignedData = [
    sorted.map(({ at }) => at / 1_000),
    of(false),
    of(true),
    ...levels.map(({ ms }) => sorted.map(() => Math.max(1, ms))),
  ]
  const zone = zoneFor('UTC')
  const options = () => ({
    legend: { show: false },
    cursor: { show: false },
    tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), zone),
    scales: {
      x: {
        time: true,
        // Moments close together stand in the middle of a few minutes.
        range: (_plot: uPlot, min: number, max: number): uPlot.Range.MinMax =>
          max - min >= 300 ? [min, max] : [min - 150, max + 150],
      },
      y: { distr: 3 as const },
    },
    axes: [
      axis({
        grid: { show: false },
        size: 30,
        space: 70,
        values: (_plot: uPlot, splits: number[]) => {
          const step = splits.length > 1 ? splits[1]! - splits[0]! : 60
          return splits.map(at => axisText(at * 1_000, step * 1_000, zone))
        },
      }),
      axis({
        size: 58,
        grid: {
          stroke: colour('line'),
          width: 1,
          filter: (_plot: uPlot, splits: number[]) =>
            splits.map(ms => (isPowerOfTen(ms) ? ms : null)),
        },
        values: (_plot: uPlot, splits: number[]) =>
          splits.map(ms => (isPowerOfTen(ms) ? spanText(ms) : '')),
      }),
    ],
    series: [
      {},
      dots('s-ok'),
      dots('s-failed'),
      ...levels.map(({ isDashed }): uPlot.Series => ({
        stroke: colour('dim'),
        width: 1,
        dash: isDashed ? [4, 4] : [],
        points: { show: false },
      })),
    ],
  })
  return (
    <figure class="figure">
      <Chart label={label} height={180} data={data} options={options} />
      <figcaption class="dim small">Times in {zone}</figcaption>
    </figure>
  )
}
