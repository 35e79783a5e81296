// A schedule in words, with the zone it counts in.

import { momentText, spanText } from './format.ts'

type Trigger = Readonly<Record<string, unknown>>

/** The zone a trigger counts in; null when it counts elapsed time. */
export function zoneOf(trigger: Trigger): string | null {
  return typeof trigger.timezone === 'string' ? trigger.timezone : null
}

const froms: Readonly<Record<string, string>> = {
  schedule: '',
  start: ' from start',
  finish: ' after the end',
}

export function scheduleText(trigger: Trigger): string {
  if (trigger.manual === true) return 'On demand'
  if (typeof trigger.at === 'string') {
    return `Once, ${momentText(Date.parse(trigger.at), { zone: 'UTC' })}`
  }
  if (typeof trigger.every === 'number') {
    return `Every ${spanText(trigger.every)}${froms[String(trigger.from)] ?? ''}`
  }
  return typeof trigger.cron === 'string' ? trigger.cron : ''
}

export function Schedule({ trigger }: { readonly trigger: Trigger }) {
  const zone = zoneOf(trigger)
  if (typeof trigger.cron !== 'string') return <span>{scheduleText(trigger)}</span>
  return (
    <span class="schedule">
      <code>{trigger.cron}</code> <span class="dim small">{zone}</span>
    </span>
  )
}
