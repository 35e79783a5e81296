// Random expressions of both dialects. Valid by construction, save for dates that never come.
import fc from 'fast-check'
import type { Dialect } from '../../src/cron/index.ts'

const MONTHS = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAYS = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT']

export function cronText(dialect: Dialect, seconds: boolean): fc.Arbitrary<string> {
  const extended = dialect === 'extended'
  const fields = [
    field(0, 59, extended),
    // Clock changes happen early in the day, so early hours are favoured.
    fc.oneof(field(0, 23, extended), field(0, 4, false)),
    extended ? fc.oneof(star, star, listOf(domItem)) : field(1, 31, false),
    extended
      ? fc.oneof({ weight: 4, arbitrary: star }, field(1, 12, true), fc.constantFrom(...MONTHS))
      : fc.oneof({ weight: 3, arbitrary: star }, field(1, 12, false)),
    extended ? fc.oneof(star, star, listOf(dowItem)) : field(0, 6, false),
  ]
  const all = seconds ? [field(0, 59, extended), ...fields] : fields
  return fc.tuple(...all).map(texts => texts.join(' '))
}

const star = fc.constant('*')

function field(min: number, max: number, steps: boolean): fc.Arbitrary<string> {
  const plain = listOf(item(min, max))
  return steps
    ? fc.oneof(star, plain, listOf(fc.oneof(item(min, max), stepItem(min, max))))
    : fc.oneof(star, plain, plain)
}

function item(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map(pair => pair.toSorted((a, b) => a - b).join('-'))
  return fc.oneof({ weight: 3, arbitrary: value.map(String) }, range)
}

function stepItem(min: number, max: number): fc.Arbitrary<string> {
  const step = fc.integer({ min: 1, max })
  const range = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(pair => pair.toSorted((a, b) => a - b).join('-'))
  return fc.tuple(fc.oneof(star, range), step).map(([base, size]) => `${base}/${size}`)
}

const domItem = fc.oneof(
  { weight: 3, arbitrary: item(1, 31) },
  stepItem(1, 31),
  fc.constantFrom('L', 'LW', 'L-1', 'L-3', 'L-28', 'l'),
  fc.integer({ min: 1, max: 31 }).map(day => `${day}W`),
)

const weekday = fc.oneof(fc.integer({ min: 0, max: 7 }).map(String), fc.constantFrom(...DAYS))

const dowItem = fc.oneof(
  { weight: 3, arbitrary: item(0, 7) },
  stepItem(0, 6),
  fc.constantFrom(...DAYS),
  fc.tuple(fc.constantFrom(...DAYS), fc.constantFrom(...DAYS)).map(pair => pair.join('-')),
  weekday.map(day => `${day}L`),
  fc.tuple(weekday, fc.integer({ min: 1, max: 5 })).map(([day, nth]) => `${day}#${nth}`),
)

function listOf(one: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(one, { minLength: 1, maxLength: 3 }).map(items => items.join(','))
}
