// The last runs as one line: how long each took, and which went wrong.

import type { Heartbeat } from '../client/index.ts'
import type { Screen } from './screen.ts'

type Slot = Heartbeat['slots'][number]
const heights = '▁▂▃▄▅▆▇█'

/** A mark for each decision, the newest last; height is duration against the longest shown. */
export function heartbeatBar(
  slots: readonly Slot[],
  { hasUnicode }: Pick<Screen, 'hasUnicode'>,
): string {
  const longest = Math.max(1, ...slots.map(slot => slot.duration_ms ?? 0))
  return slots
    .map(slot => {
      if (slot.failed > 0) return hasUnicode ? '✕' : 'x'
      if (slot.cancelled > 0) return hasUnicode ? '⊘' : '/'
      if (slot.skipped > 0 || slot.missed > 0) return '-'
      if (slot.running > 0) return hasUnicode ? '▶' : '>'
      if (!hasUnicode) return '.'
      const share = (slot.duration_ms ?? 0) / longest
      return heights[Math.min(heights.length - 1, Math.floor(share * heights.length))]!
    })
    .join('')
}

export function p95Of(slots: readonly Slot[], field: 'duration_ms' | 'late_ms'): number | null {
  const values = slots.flatMap(slot => slot[field] ?? []).sort((a, b) => a - b)
  return values.length === 0 ? null : values[Math.ceil(values.length * 0.95) - 1]!
}
