// The marks of one row: runs that were, and starts that come.

import type { TimelineRow } from '../../data/reads.ts'
import { countText, momentText, plural, spanText } from '../../components/format.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { zoneFor } from '../../view.ts'
import { countOf, sharesOf, type Mark, type Sums, type TimelineBar } from './rows.ts'
import type { Window } from './window.ts'

export interface Area {
  readonly left: number
  readonly width: number
  readonly rowHeight: number
  readonly x: (ms: number) => number
}

interface BarProps {
  readonly mark: Mark
  readonly y: number
  readonly area: Area
  readonly window: Window
  readonly onWindow: (window: Window) => void
}

const TALL = 14

export function Bar({ mark, y, area, window, onWindow }: BarProps) {
  const { x, width, waitX, sums, runs } = mark
  const [only] = runs
  const count = countOf(sums)
  const drawn = (
    <>
      <title>{tellMark(mark)}</title>
      {waitX !== null && (
        <line class="wait" x1={area.left + waitX} x2={area.left + x} y1={y + 7} y2={y + 7} />
      )}
      {sharesOf(sums, TALL).map(share => (
        <rect
          key={share.family}
          class={`bar s-${share.family}`}
          x={area.left + x}
          y={y + share.y}
          width={width}
          height={share.height}
        />
      ))}
      {count > 1 && width > 22 && (
        <text class="count" x={area.left + x + width / 2} y={y + 11}>
          {count}
        </text>
      )}
    </>
  )
  if (runs.length === 1) {
    return (
      <a href={href(pathTo('run', { id: only!.run_id }))} tabIndex={-1}>
        {drawn}
      </a>
    )
  }
  const ms = (at: number) => window.from + (at / area.width) * (window.to - window.from)
  const closer = () => {
    const pad = (ms(x + width) - ms(x)) * 0.2
    onWindow({ from: ms(x) - pad, to: ms(x + width) + pad })
  }
  return (
    <g class="merged" onClick={closer}>
      {drawn}
    </g>
  )
}

function tellMark({ runs, sums }: Mark): string {
  const described = runs.slice(0, 12).map(tellRun)
  const more = runs.length > 12 ? [`and ${runs.length - 12} more`] : []
  const head = runs.length === 1 ? [] : [`${sumsText(sums)}; click to look closer`]
  return [...head, ...described, ...more].join('\n')
}

export function sumsText({ completed, failed, cancelled, running, retried }: Sums): string {
  const parts = [
    [completed, 'completed'],
    [failed, 'failed'],
    [cancelled, 'cancelled'],
    [running, 'running'],
  ] as const
  const runs = parts.filter(([count]) => count > 0).map(([n, word]) => `${countText(n)} ${word}`)
  const attempts = retried === 0 ? [] : [`${plural(retried, 'attempt')} failed and retried`]
  return [...runs, ...attempts].join(', ')
}

function tellRun(run: TimelineBar): string {
  const at = momentText(Date.parse(run.started_at), { zone: zoneFor('UTC'), hasSeconds: true })
  const state = run.is_retried ? 'failed and retried' : run.status
  const took =
    run.finished_at === null
      ? 'running'
      : `${state} in ${spanText(Date.parse(run.finished_at) - Date.parse(run.started_at))}`
  return `${run.job_name}, ${at}, ${took}`
}

interface ComingProps {
  readonly one: TimelineRow['upcoming'][number]
  readonly expectedMs: number | null
  readonly y: number
  readonly area: Area
}

export function Coming({ one, expectedMs, y, area }: ComingProps) {
  const at = Date.parse(one.at)
  const x = area.x(at)
  const wide = expectedMs === null ? 0 : area.x(at + expectedMs) - x
  const room = area.left + area.width - x
  if (x < area.left || room <= 0) return null
  const when = momentText(at, { zone: zoneFor('UTC'), hasSeconds: true })
  return (
    <g class={`coming${one.is_estimate ? ' estimate' : ''}`}>
      <rect x={x} y={y + 0.5} width={Math.min(room, Math.max(3, wide))} height={13} rx={2} />
      <title>{`${one.job_name}, ${one.is_estimate ? 'about ' : ''}${when}`}</title>
    </g>
  )
}

interface ComingPartProps {
  readonly part: TimelineRow['coming'][number]
  readonly partMs: number
  readonly y: number
  readonly area: Area
}

/** Many starts of one part of the time ahead. */
export function ComingPart({ part, partMs, y, area }: ComingPartProps) {
  const from = Date.parse(part.from)
  const x = Math.max(area.left, area.x(from))
  const width = Math.min(area.left + area.width, area.x(from + partMs)) - x - 1
  if (width <= 0) return null
  const when = momentText(from, { zone: zoneFor('UTC') })
  return (
    <g class="coming">
      <rect x={x} y={y + 0.5} width={Math.max(2, width)} height={13} rx={2} />
      {width > 22 && (
        <text class="count coming-count" x={x + width / 2} y={y + 11}>
          {part.count}
        </text>
      )}
      <title>{`${plural(part.count, 'start')} from ${when}`}</title>
    </g>
  )
}
