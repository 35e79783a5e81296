// The schedule of a crontab line: five fields or a nickname, and where cron programs mean something
// else by it than the extended dialect does.

import { CronError, parseCron } from '../cron/index.ts'

export type Fields =
  | { readonly expression: string; readonly rest: string }
  | { readonly fault: string }

const nicknames: Readonly<Record<string, string>> = {
  yearly: '0 0 1 1 *',
  annually: '0 0 1 1 *',
  monthly: '0 0 1 * *',
  weekly: '0 0 * * 0',
  daily: '0 0 * * *',
  midnight: '0 0 * * *',
  hourly: '0 * * * *',
  every_minute: '* * * * *',
}

export function readFields(text: string): Fields {
  if (text.startsWith('@')) return readNickname(text)
  // Some programs take a `-` before the line for "do not log it".
  const found = /^-?(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*(.*)$/.exec(text)
  if (!found) return { fault: 'five fields and a command are needed' }
  const fields = found.slice(1, 6)
  if (fields.some(field => field.includes('~'))) {
    return { fault: "'~' asks for a random time: write the time down, or use jitter_seconds" }
  }
  const [, , date, , weekday] = fields as [string, string, string, string, string]
  if (isBothStepped(date, weekday)) {
    return {
      fault:
        `'${date}' and '${weekday}' must both fit in cron when one begins with *, ` +
        'but are alternatives here: list the days',
    }
  }
  fields[4] = weekday.replaceAll(/(\d)-7\b/g, (_, from: string) => `${from}-6,0`)
  return { expression: fields.join(' '), rest: found[6]! }
}

const isStar = (field: string) => field === '*' || field === '?'

/** A day field that begins with `*` leaves the choice to the other one, also with a step. */
function isBothStepped(date: string, weekday: string): boolean {
  if (isStar(date) || isStar(weekday)) return false
  return date.startsWith('*') || weekday.startsWith('*')
}

function readNickname(text: string): Fields {
  const [, word = '', rest = ''] = /^@(\S+)\s*(.*)$/.exec(text) ?? []
  if (word.toLowerCase() === 'reboot') {
    return {
      fault: '@reboot has no equivalent: a start of the machine is not a time; use a systemd unit',
    }
  }
  const expression = nicknames[word.toLowerCase()]
  return expression === undefined ? { fault: `@${word} is not known` } : { expression, rest }
}

/** Null when the extended dialect reads it. */
export function cronFaultOf(expression: string): string | null {
  try {
    parseCron(expression)
    return null
  } catch (error) {
    return error instanceof CronError ? error.message : String(error)
  }
}
