// The extended dialect: optional seconds, steps, names, macros, L, W, # and ? on top of POSIX.
import { CronError } from './errors.ts'
import {
  FIVE_FIELDS,
  HOUR,
  MACROS,
  MINUTE,
  MONTH,
  MONTH_DAY,
  SECOND,
  WEEKDAY,
  sortedUnique,
  splitList,
  tokenize,
} from './fields.ts'
import type { FieldSource, FieldSpec, Token } from './fields.ts'
import { readMonthDays, readWeekDays } from './parse-days.ts'
import { readItem } from './parse-item.ts'
import type { CronFields, FieldValues } from './types.ts'

/**
 * Choices where cron dialects differ: only a bare `*` or `?` leaves a day field open, so a step on
 * `*` restricts it and day of month and weekday are then alternatives; ranges ascend, save between
 * weekday names (FRI-MON); a step needs `*` or a range; `dW` names no day in a month without d.
 */
export function parseExtended(expression: string): CronFields {
  const tokens = fieldTokens(expression)
  const shift = tokens.length - FIVE_FIELDS.length
  const source = (spec: FieldSpec, index: number): FieldSource => {
    return { expression, spec, token: tokens[index + shift]! }
  }
  const second = shift === 1 ? readValues(source(SECOND, -1)).values : [0]
  const minute = readValues(source(MINUTE, 0))
  const hour = readValues(source(HOUR, 1))
  const monthDays = readMonthDays(source(MONTH_DAY, 2))
  const month = readValues(source(MONTH, 3)).values
  const weekDays = readWeekDays(source(WEEKDAY, 4))
  return {
    second,
    minute: minute.values,
    hour: hour.values,
    monthDays,
    month,
    weekDays,
    elapsed: minute.stepped || hour.stepped,
  }
}

function fieldTokens(expression: string): Token[] {
  const tokens = tokenize(expression)
  const first = tokens[0]!
  if (first.text.startsWith('@')) return macroTokens(expression, tokens)
  if (tokens.length === 5 || tokens.length === 6) return tokens
  const hint =
    tokens.length === 7 ? 'a year field is not supported' : 'minute hour day month weekday'
  const reason = `five or six fields are needed, found ${tokens.length}`
  throw new CronError({ expression, reason, hint })
}

function macroTokens(expression: string, tokens: Token[]): Token[] {
  const { text, column } = tokens[0]!
  const name = text.toLowerCase()
  if (tokens.length > 1) {
    throw new CronError({ expression, reason: 'a macro stands alone', column: tokens[1]!.column })
  }
  const written = Object.hasOwn(MACROS, name) ? MACROS[name]! : null
  if (written !== null) return tokenize(written)
  const hint =
    name === '@reboot'
      ? 'start-up is not a time: run the job once when the process starts'
      : `known macros: ${Object.keys(MACROS).join(' ')}`
  throw new CronError({ expression, reason: `${text.slice(0, 40)} is not a macro`, column, hint })
}

function readValues(source: FieldSource): { values: FieldValues; stepped: boolean } {
  const items = splitList(source).map(item => readItem(source, item))
  return {
    values: sortedUnique(items.flatMap(item => item.values)),
    stepped: items.some(item => item.stepped),
  }
}
