// The marks of one row: runs that were, and moments that come.

import { momentText, spanText } from '../../parts/format.ts'
import { lookOf } from '../../parts/states.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../place.ts'
import { zoneFor } from '../../view.ts'
import type { ComingRun, Mark } from './rows.ts'
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

export function Bar({ mark, y, area, window, onWindow }: BarProps) {
  const { x, width, waitX, state, runs } = mark
  const { family } = lookOf(state)
  const [only] = runs
  const drawn = (
    <>
      <title>{tellRuns(mark)}</title>
      {waitX !== null && (
        <line class="wait" x1={area.left + waitX} x2={area.left + x} y1={y + 7} y2={y + 7} />
      )}
      <rect class={`bar s-${family}`} x={area.left + x} y={y} width={width} height={14} rx={2} />
      {runs.length > 1 && width > 18 && (
        <text class="count" x={area.left + x + width / 2} y={y + 11}>
          {runs.length}
        </text>
      )}
    </>
  )
  if (runs.length === 1) {
    return (
      <a href={href(pathTo('run', { id: only!.run.run_id }))} tabIndex={-1}>
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

function tellRuns({ runs, state }: Mark): string {
  const zone = zoneFor('UTC')
  const told = runs.slice(0, 12).map(({ run, jobName }) => {
    const at = momentText(Date.parse(run.started_at), { zone, hasSeconds: true })
    const took =
      run.finished_at === null
        ? 'running'
        : `${run.status} in ${spanText(Date.parse(run.finished_at) - Date.parse(run.started_at))}`
    return `${jobName}, ${at}, ${took}`
  })
  const more = runs.length > 12 ? [`and ${runs.length - 12} more`] : []
  const head = runs.length > 1 ? [`${runs.length} runs, the worst ${state}; click to zoom`] : []
  return [...head, ...told, ...more].join('\n')
}

interface ComingProps {
  readonly one: ComingRun
  readonly y: number
  readonly area: Area
}

export function Coming({ one, y, area }: ComingProps) {
  const x = area.x(one.at)
  const wide = one.expectedMs === null ? 0 : area.x(one.at + one.expectedMs) - x
  const room = area.left + area.width - x
  if (x < area.left || room <= 0) return null
  const when = momentText(one.at, { zone: zoneFor('UTC'), hasSeconds: true })
  return (
    <g class={`coming${one.isEstimate ? ' estimate' : ''}`}>
      <rect x={x} y={y + 0.5} width={Math.min(room, Math.max(3, wide))} height={13} rx={2} />
      <title>{`${one.jobName}, ${one.isEstimate ? 'about ' : ''}${when}`}</title>
    </g>
  )
}
