// One list item of the extended dialect: value, range, `*`, each with an optional step.
import { quote } from './errors.ts'
import { WEEKDAY, rangeValues, readNumber, refuse } from './fields.ts'
import type { FieldSource, Token } from './fields.ts'

export interface Item {
  readonly values: readonly number[]
  /** Written with `*` or a step. */
  readonly stepped: boolean
}

export function readItem(source: FieldSource, item: Token): Item {
  const slash = item.text.indexOf('/')
  if (slash < 0) {
    // `*/n` may be listed, a bare `*` would swallow its neighbours.
    if (item.text === '*' && source.token.text !== '*') {
      refuse(source, item, '* cannot be part of a list', '* alone means every value')
    }
    return { values: readBase(source, item), stepped: item.text === '*' }
  }
  const base = { text: item.text.slice(0, slash), column: item.column }
  const step = { text: item.text.slice(slash + 1), column: item.column + slash + 1 }
  const size = readStep(source, step)
  if (base.text !== '*' && !base.text.includes('-')) {
    const hint = `write ${base.text}-${source.spec.max}/${step.text}`
    refuse(source, item, `${quote(item.text)} has a step but no range`, hint)
  }
  const values = readBase(source, base).filter((_, index) => index % size === 0)
  return { values, stepped: true }
}

/** A number or a name; weekday 7 is left as 7 so that ranges can end there. */
export function readValue(source: FieldSource, at: Token): number {
  const { names, min } = source.spec
  const named = names.indexOf(at.text.toUpperCase())
  if (named >= 0) return named + min
  if (names.length > 0 && !/^[0-9]+$/.test(at.text)) {
    refuse(
      source,
      at,
      `${quote(at.text)} is not a ${source.spec.name}`,
      `names: ${names.join(' ')}`,
    )
  }
  return readNumber(source, at, source.spec === WEEKDAY ? 7 : source.spec.max)
}

// In ascending order of the range, so that a step counts from its start.
function readBase(source: FieldSource, base: Token): number[] {
  const { spec } = source
  if (base.text === '*') return rangeValues(spec.min, spec.max, 1)
  const dash = base.text.indexOf('-')
  if (dash <= 0) {
    const value = readValue(source, base)
    return [spec === WEEKDAY ? value % 7 : value]
  }
  const low = { text: base.text.slice(0, dash), column: base.column }
  const high = { text: base.text.slice(dash + 1), column: base.column + dash + 1 }
  return readRange(source, low, high)
}

function readRange(source: FieldSource, lowToken: Token, highToken: Token): number[] {
  const { spec } = source
  const low = readValue(source, lowToken)
  const high = readValue(source, highToken)
  const text = `${lowToken.text}-${highToken.text}`
  if (low <= high) {
    const values = rangeValues(low, high, 1)
    return spec === WEEKDAY ? values.map(value => value % 7) : values
  }
  const named = (at: Token): boolean => spec.names.includes(at.text.toUpperCase())
  if (spec === WEEKDAY && named(lowToken) && named(highToken)) {
    return rangeValues(low, high + 7, 1).map(value => value % 7)
  }
  const hint =
    spec === WEEKDAY
      ? 'only ranges between names wrap, such as FRI-MON'
      : `write ${low}-${spec.max},${spec.min}-${high}`
  return refuse(source, lowToken, `range ${quote(text)} descends`, hint)
}

function readStep(source: FieldSource, at: Token): number {
  const { max, plural } = source.spec
  const size = /^[0-9]+$/.test(at.text) ? Number(at.text) : Number.NaN
  if (!(size >= 1 && size <= max)) {
    refuse(source, at, `step ${quote(at.text)} is out of range`, `steps of ${plural} are 1–${max}`)
  }
  return size
}
