// The drawing: an axis, what ran at once, a row of bars for each job. Attributes only, so that the
// policy of the page holds.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Timeline, TimelineRow } from '../../data/reads.ts'
import { countText, momentText } from '../../components/format.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { zoneFor } from '../../view.ts'
import { Bar, Coming, ComingPart, type Area } from './bars.tsx'
import { marksOf } from './rows.ts'
import { ticks, zoneOffset, type Window } from './window.ts'

const ROW = 28
const AXIS = 22
const CROWD = 44
const LABELS = 210
const NARROW = 620
/** A label that would be cut off is left out. */
const LABEL_ROOM = 40

interface GanttProps {
  readonly rows: readonly TimelineRow[]
  readonly data: Timeline
  readonly window: Window
  readonly onWindow: (window: Window) => void
  readonly onKey: (event: KeyboardEvent) => void
  readonly now: number
}

export function Gantt(props: GanttProps) {
  const { rows, data, window, now } = props
  const frame = useRef<HTMLDivElement>(null)
  const whole = useWidth(frame)
  const isNarrow = whole < NARROW
  const left = isNarrow ? 0 : LABELS
  const width = Math.max(100, whole - left - 8)
  const scale = width / (window.to - window.from)
  const area: Area = {
    left,
    width,
    rowHeight: isNarrow ? ROW + 14 : ROW,
    x: ms => left + (ms - window.from) * scale,
  }
  const top = AXIS + CROWD
  const height = top + rows.length * area.rowHeight + 4
  const brush = useBrush(area, window, props.onWindow)
  return (
    <div
      class="gantt"
      ref={frame}
      tabIndex={0}
      role="group"
      aria-label="Timeline. Plus and minus zoom, arrows move, 0 goes back to now. The table has the same."
      onKeyDown={props.onKey}
    >
      <svg
        width={whole}
        height={height}
        viewBox={`0 0 ${whole} ${height}`}
        onPointerDown={brush.down}
        onPointerMove={brush.move}
        onPointerUp={brush.up}
        onPointerLeave={brush.leave}
      >
        <Axis window={window} area={area} height={height} />
        <Concurrency data={data} area={area} />
        <Unknown data={data} area={area} height={height} />
        {rows.map((row, at) => (
          <Line key={row.id} row={row} y={top + at * area.rowHeight} area={area} {...props} />
        ))}
        {now > window.from && now < window.to && (
          <g class="now">
            <line x1={area.x(now)} x2={area.x(now)} y1={AXIS - 6} y2={height} />
            <title>Now</title>
          </g>
        )}
        {brush.shown}
      </svg>
    </div>
  )
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800)
  useEffect(() => {
    const element = frame.current!
    const read = () => setWidth(element.clientWidth)
    read()
    const sized = new ResizeObserver(read)
    sized.observe(element)
    return () => sized.disconnect()
  }, [])
  return width
}

/** A drag across the drawing shows what lies between its ends. */
function useBrush(area: Area, window: Window, onWindow: (window: Window) => void) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null)
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    return Math.min(area.left + area.width, Math.max(area.left, event.clientX - box.left))
  }
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || event.pointerType === 'touch') return
    if ((event.target as Element).closest('a') !== null) return
    setDrag({ from: at(event), to: at(event) })
  }
  const move = (event: PointerEvent) => drag && setDrag({ from: drag.from, to: at(event) })
  const up = () => {
    if (drag && Math.abs(drag.to - drag.from) > 8) {
      const ms = (x: number) =>
        window.from + ((x - area.left) / area.width) * (window.to - window.from)
      onWindow({ from: ms(Math.min(drag.from, drag.to)), to: ms(Math.max(drag.from, drag.to)) })
    }
    setDrag(null)
  }
  const shown = drag && (
    <rect
      class="brush"
      x={Math.min(drag.from, drag.to)}
      y={0}
      width={Math.abs(drag.to - drag.from)}
      height="100%"
    />
  )
  return { down, move, up, leave: () => setDrag(null), shown }
}

interface AxisProps {
  readonly window: Window
  readonly area: Area
  readonly height: number
}

function Axis({ window, area, height }: AxisProps) {
  const zone = zoneFor('UTC')
  const offset = zoneOffset(window.from, zone)
  const marks = ticks(window, Math.max(2, Math.floor(area.width / 84)), offset)
  return (
    <g class="axis">
      {marks.map(ms => (
        <g key={ms}>
          <line x1={area.x(ms)} x2={area.x(ms)} y1={AXIS - 4} y2={height} />
          {area.x(ms) < area.left + area.width - LABEL_ROOM && (
            <text x={area.x(ms) + 3} y={13}>
              {axisText(ms, zone, offset)}
            </text>
          )}
        </g>
      ))}
    </g>
  )
}

/** The day at midnight, the time otherwise; the zone is told once above. */
function axisText(ms: number, zone: string, offset: number): string {
  const isMidnight = (ms + offset) % 86_400_000 === 0
  const text = momentText(ms, { zone })
  const [day, date, month, time] = text.split(' ')
  return isMidnight ? `${day} ${date} ${month}` : time!
}

interface ConcurrencyProps {
  readonly data: Timeline
  readonly area: Area
}

function Concurrency({ data, area }: ConcurrencyProps) {
  const { concurrency } = data
  const most = Math.max(1, ...concurrency.map(({ running }) => running))
  const base = AXIS + CROWD - 6
  const y = (running: number) => base - (running / most) * (CROWD - 14)
  const width = (Date.parse(data.to) - Date.parse(data.from)) / 60
  const points = concurrency.flatMap(({ from, running }) => {
    const start = Date.parse(from)
    const end = Math.min(start + width, Date.parse(data.now))
    return [`${area.x(start)},${y(running)}`, `${area.x(end)},${y(running)}`]
  })
  const last = concurrency.at(-1)
  if (last === undefined) return null
  const first = area.x(Date.parse(concurrency[0]!.from))
  const end = area.x(Math.min(Date.parse(last.from) + width, Date.parse(data.now)))
  return (
    <g class="crowd-area">
      <polygon points={`${first},${base} ${points.join(' ')} ${end},${base}`} />
      {area.left > 0 && (
        <text x={12} y={base - 6}>
          At once, {countText(most)} at most
        </text>
      )}
      <title>{`At most ${most} ran at once`}</title>
    </g>
  )
}

/** Where nothing is drawn because nothing is known, it is hatched. */
function Unknown({ data, area, height }: ConcurrencyProps & { readonly height: number }) {
  const spans = [
    [Date.parse(data.from), Date.parse(data.complete_since), 'Runs before this were not read'],
    [Date.parse(data.complete_until), Date.parse(data.to), 'More starts may come after this'],
  ] as const
  return (
    <>
      <defs>
        <pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse">
          <path class="hatch" d="M0 6L6 0" />
        </pattern>
      </defs>
      {spans.map(
        ([from, to, title]) =>
          to > from && (
            <rect
              key={title}
              class="unknown"
              x={area.x(from)}
              y={AXIS}
              width={area.x(to) - area.x(from)}
              height={height - AXIS}
              fill="url(#unknown)"
            >
              <title>{title}</title>
            </rect>
          ),
      )}
    </>
  )
}

interface LineProps extends GanttProps {
  readonly row: TimelineRow
  readonly y: number
  readonly area: Area
}

function Line({ row, y, area, window, now, data, onWindow }: LineProps) {
  const scale = { window, width: area.width, now, partMs: data.part_ms }
  const marks = marksOf(row, scale)
  const isNarrow = area.left === 0
  const barY = y + (isNarrow ? 20 : 7)
  const label = row.label.length > 30 ? `${row.label.slice(0, 29)}…` : row.label
  const name = (
    <text class="row-label" x={isNarrow ? 4 : 12} y={isNarrow ? y + 14 : y + 18}>
      {label}
      <title>{row.label}</title>
    </text>
  )
  return (
    <g class="gantt-row">
      <line class="rule" x1={0} x2={area.left + area.width + 8} y1={y} y2={y} />
      {row.job_id === null ? name : <a href={href(pathTo('job', { id: row.job_id }))}>{name}</a>}
      {marks.map((mark, at) => (
        <Bar key={at} mark={mark} y={barY} area={area} window={window} onWindow={onWindow} />
      ))}
      {row.upcoming.map((one, at) => (
        <Coming key={at} one={one} expectedMs={row.expected_ms} y={barY} area={area} />
      ))}
      {row.coming.map(part => (
        <ComingPart key={part.from} part={part} partMs={data.part_ms} y={barY} area={area} />
      ))}
    </g>
  )
}
