// A schedule in words, with the zone it counts in.

import { parseCron } from '../../cron/index.ts'
import { lengthText, momentText } from './format.ts'

type Trigger = Readonly<Record<string, unknown>>

/** The zone a trigger counts in; null when it counts elapsed time. */
export function zoneOf(trigger: Trigger): string | null {
  return typeof trigger.timezone === 'string' ? trigger.timezone : null
}

const froms: Readonly<Record<string, string>> = {
  schedule: '',
  start: ' from start to start',
  finish: ' after the run before',
}

const sentences = new Map<string, string>()

/** What an expression means; the expression itself when this browser does not know its zone. */
export function cronSentence(cron: string, zone: string, dialect: unknown): string {
  const key = `${String(dialect)} ${zone} ${cron}`
  const known = sentences.get(key)
  if (known !== undefined) return known
  let text = cron
  try {
    const kind = dialect === 'posix' ? 'posix' : 'extended'
    text = parseCron(cron, { zone, dialect: kind }).describe().replace(` (${zone})`, '')
  } catch {
    // The service is the authority; its refusal is shown where it is edited.
  }
  sentences.set(key, text)
  return text
}

export function scheduleText(trigger: Trigger): string {
  if (trigger.manual === true) return 'On demand'
  if (typeof trigger.at === 'string') {
    return `Once, ${momentText(Date.parse(trigger.at), { zone: 'UTC' })}`
  }
  if (typeof trigger.every === 'number') {
    return `Every ${lengthText(trigger.every)}${froms[String(trigger.from)] ?? ''}`
  }
  if (typeof trigger.cron !== 'string') return ''
  return cronSentence(trigger.cron, zoneOf(trigger) ?? 'UTC', trigger.dialect)
}

/** The sentence, and under it the expression with its zone. */
export function Schedule({ trigger }: { readonly trigger: Trigger }) {
  return (
    <span class="schedule">
      <span>{scheduleText(trigger)}</span>
      {typeof trigger.cron === 'string' && (
        <span class="dim small">
          <code>{trigger.cron}</code> {zoneOf(trigger)}
        </span>
      )}
    </span>
  )
}
