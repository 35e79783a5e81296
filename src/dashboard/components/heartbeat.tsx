// One mark for each decision about a job and each run asked for beside it, oldest first: height tells
// how long it took, colour and form how it ended, a dot on top that someone asked for it. One stop of
// the tab key; arrows move along it.

import { useRef } from 'preact/hooks'
import type { Slot } from '../data/reads.ts'
import { momentText, percentText, plural, spanText } from './format.ts'
import { lookOf, type Family } from './states.ts'
import { zoneFor } from '../view.ts'

interface HeartbeatProps {
  readonly slots: readonly Slot[]
  /** Cells drawn; those not yet lived are left empty at the front. */
  readonly size: number
  readonly zone?: string | null
  readonly isCompact?: boolean
  readonly graceMs?: number
  readonly hrefOf?: (slot: Slot) => string | null
}

export function slotState(slot: Slot): string {
  if (slot.running > 0) return 'running'
  if (slot.failed > 0) return 'failed'
  if (slot.cancelled > 0) return 'cancelled'
  if (slot.missed > 0) return 'missed'
  if (slot.skipped > 0) return 'skipped'
  return 'completed'
}

const requestWords: Readonly<Record<Slot['origin'], string>> = {
  schedule: '',
  manual: 'run by hand',
  retry: 'an old run once more',
  backfill: 'made up for',
}

const isRequested = ({ origin }: Slot) => origin !== 'schedule'

function describe(slot: Slot, zone: string): string {
  const at = momentText(Date.parse(slot.from), { zone, hasSeconds: true })
  const state = lookOf(slotState(slot)).label.toLowerCase()
  const request = isRequested(slot) ? `, ${requestWords[slot.origin]}` : ''
  const many = slot.expected > 1 ? ` ×${slot.expected}` : ''
  const took = slot.duration_ms === null ? '' : ` in ${spanText(slot.duration_ms)}`
  const late = slot.late_ms === null ? '' : `, ${spanText(slot.late_ms)} late`
  const reason = slot.reason === null ? '' : `: ${slot.reason}`
  return `${at}${request}, ${state}${many}${took}${late}${reason}`
}

export function heartbeatSummary(slots: readonly Slot[]): string {
  const sum = (pick: (slot: Slot) => number) => slots.reduce((total, one) => total + pick(one), 0)
  const ok = sum(one => one.ok)
  const failed = sum(one => one.failed)
  const missed = sum(one => one.missed)
  const skipped = sum(one => one.skipped)
  const parts = [`${ok} ok`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (missed > 0) parts.push(`${missed} missed`)
  if (skipped > 0) parts.push(`${skipped} skipped`)
  const requested = slots.filter(isRequested).length
  const beside = requested === 0 ? '' : ` and ${plural(requested, 'run')} by hand`
  const judged = ok + failed
  const share = judged === 0 ? '' : `, ${percentText(ok / judged)} of runs succeeded`
  return `${plural(slots.length - requested, 'decision')}${beside}: ${parts.join(', ')}${share}`
}

const LEAST = 0.3

/** Longer runs are taller, on a scale where twice as long is one step more. */
function heights(slots: readonly Slot[]): number[] {
  const known = slots.map(({ duration_ms }) => Math.log2(1 + (duration_ms ?? 0)))
  const most = Math.max(...known, 1)
  return known.map(one => LEAST + (1 - LEAST) * (one / most))
}

export function HeartbeatBar(props: HeartbeatProps) {
  const { slots, size, zone = null, isCompact = false, graceMs = Infinity, hrefOf } = props
  const group = useRef<SVGSVGElement>(null)
  const [width, height, gap] = isCompact ? [5, 16, 1] : [8, 28, 2]
  const shown = slots.slice(-size)
  const tall = heights(shown)
  const start = size - shown.length
  const shownZone = zoneFor(zone)
  const keyed = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    const cells = [...(group.current?.querySelectorAll<SVGElement>('a') ?? [])]
    const at = cells.findIndex(cell => cell === document.activeElement)
    cells.at(Math.max(0, Math.min(cells.length - 1, at + by)))?.focus()
    event.preventDefault()
  }
  const cell = (slot: Slot, at: number) => (
    <Cell
      key={`${slot.from}-${at}`}
      slot={slot}
      x={(start + at) * (width + gap)}
      box={{ width, height }}
      share={tall[at]!}
      isLate={(slot.late_ms ?? 0) > graceMs}
      text={describe(slot, shownZone)}
      href={hrefOf?.(slot) ?? null}
      isStop={at === shown.length - 1}
    />
  )
  return (
    <svg
      ref={group}
      class={`heartbeat${isCompact ? ' compact' : ''}`}
      viewBox={`0 0 ${size * (width + gap) - gap} ${height}`}
      width={size * (width + gap) - gap}
      height={height}
      preserveAspectRatio={isCompact ? undefined : 'none'}
      role={hrefOf ? 'group' : 'img'}
      aria-label={slots.length === 0 ? 'No firing yet' : heartbeatSummary(slots)}
      onKeyDown={keyed}
    >
      {Array.from({ length: start }, (_, at) => (
        <rect
          key={at}
          class="unlived"
          x={at * (width + gap)}
          y={height - 2}
          width={width}
          height={2}
        />
      ))}
      {shown.map(cell)}
    </svg>
  )
}

interface CellProps {
  readonly slot: Slot
  readonly x: number
  readonly box: { readonly width: number; readonly height: number }
  readonly share: number
  readonly isLate: boolean
  readonly text: string
  readonly href: string | null
  readonly isStop: boolean
}

function Cell({ slot, x, box, share, isLate, text, href, isStop }: CellProps) {
  const { family } = lookOf(slotState(slot))
  const isFull: readonly Family[] = ['failed', 'cancel', 'running']
  const tall = isFull.includes(family) ? box.height : Math.max(3, Math.round(box.height * share))
  const drawn = (
    <>
      <title>{text}</title>
      <rect class="reach" x={x} y={0} width={box.width} height={box.height} />
      <rect
        class={`mark s-${family}`}
        x={family === 'skip' ? x + 0.5 : x}
        y={box.height - tall + (family === 'skip' ? 0.5 : 0)}
        width={family === 'skip' ? box.width - 1 : box.width}
        height={family === 'skip' ? tall - 1 : tall}
        rx={1}
      />
      {family === 'failed' && (
        <rect class="notch" x={x + box.width / 2 - 1} y={box.height / 3} width={2} height={2} />
      )}
      {isRequested(slot) && <RequestMark x={x} {...box} />}
      {isLate && <rect class="late" x={x} y={0} width={box.width} height={2} />}
    </>
  )
  if (href === null) return <g>{drawn}</g>
  return (
    <a href={href} tabIndex={isStop ? 0 : -1} aria-label={text}>
      {drawn}
    </a>
  )
}

/** A dot in a gap that the bar leaves for it. */
function RequestMark({ x, width }: { readonly x: number; readonly width: number }) {
  return (
    <>
      <rect class="apart" x={x - 0.5} y={0} width={width + 1} height={width + 1} />
      <rect class="asked" x={x + width / 4} y={0} width={width / 2} height={width / 2} />
    </>
  )
}
