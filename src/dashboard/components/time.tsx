// A moment: its text with the zone, how far away it is, and every other reading of it on demand.

import { second } from '../clock.ts'
import { localZone, zoneFor } from '../view.ts'
import { momentText, relativeText } from './format.ts'

interface TimeProps {
  readonly at: string | number | null
  /** The zone of the job it belongs to. */
  readonly zone?: string | null
  readonly show?: 'both' | 'moment' | 'relative'
  readonly hasSeconds?: boolean
  readonly none?: string
}

export function Time({
  at,
  zone = null,
  show = 'both',
  hasSeconds = false,
  none = '–',
}: TimeProps) {
  if (at === null) return <span class="dim">{none}</span>
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const now = second.value
  const shown = zoneFor(zone)
  const text = momentText(ms, { zone: shown, hasSeconds, now })
  const away = relativeText(ms, now)
  return (
    <time dateTime={new Date(ms).toISOString()} title={readings(ms, zone)}>
      {show !== 'relative' && <span class="moment">{text}</span>}
      {show === 'both' && ' '}
      {show !== 'moment' && <span class={show === 'both' ? 'away dim' : 'away'}>{away}</span>}
    </time>
  )
}

/** The same moment in UTC, in the zone of the job, and in that of the reader. */
function readings(ms: number, jobZone: string | null): string {
  const lines = [new Date(ms).toISOString()]
  if (jobZone !== null && jobZone !== 'UTC') {
    lines.push(`${momentText(ms, { zone: jobZone, hasSeconds: true })} (${jobZone})`)
  }
  lines.push(`${momentText(ms, { zone: localZone, hasSeconds: true })} (${localZone}, yours)`)
  return lines.join('\n')
}
