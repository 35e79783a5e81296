import { describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits.ts'
import { checkCombinations } from '../../src/core/spec/spec-combinations.ts'
import { completeSpec, specDefaults, type JobSpec } from '../../src/core/spec.ts'
import type { Trigger } from '../../src/core/schedule/trigger.ts'
import { names, page, readText, tableUnder } from './pages.ts'

const { text } = page('docs/reference/policies.md')
const refused = tableUnder(text, 'Refused combinations')

const interval = (
  from: 'schedule' | 'start' | 'finish',
  anchor: number | null = null,
): Trigger => ({
  kind: 'interval',
  everyMs: 1_000,
  from,
  anchor,
})
const once: Trigger = { kind: 'once', at: 0 }
const manual: Trigger = { kind: 'manual' }
const all = { policy: 'all', max: 1, maxAgeMs: 1 } as const
const { retry } = specDefaults

/** One for each rule; what is refused is what the page must list. */
const contradictions: readonly ({ trigger: Trigger } & Partial<JobSpec>)[] = [
  { trigger: interval('start'), missed: all },
  { trigger: interval('finish'), missed: all },
  { trigger: interval('finish'), overlap: { policy: 'allow' } },
  { trigger: interval('start'), overlap: { policy: 'allow' } },
  { trigger: interval('start', 0) },
  { trigger: interval('schedule'), first: 'ifDue' },
  { trigger: once, first: 'now' },
  { trigger: manual, first: 'now' },
  { trigger: interval('schedule'), retry: { ...retry, exhausted: 'wait' } },
  { trigger: once, retry: { ...retry, exhausted: 'next' } },
  { trigger: manual, retry: { ...retry, exhausted: 'next' } },
  { trigger: manual, retry: { ...retry, backoff: { kind: 'relative', maxFactor: 10 } } },
  { trigger: manual, retry: { ...retry, backoff: { ...retry.backoff, maxMs: 1 } } },
  { trigger: manual, retry: { ...retry, yields: true } },
  {
    trigger: interval('schedule'),
    retry: { ...retry, yields: true },
    overlap: { policy: 'allow' },
  },
  { trigger: once, runLimit: 1 },
  { trigger: manual, endAt: 1 },
  { trigger: interval('schedule'), startAt: 2, endAt: 1 },
  { trigger: once, jitterMs: 1 },
  { trigger: manual, jitterMs: 1 },
  { trigger: interval('schedule'), jitterMs: 1_000 },
]

describe('refused combinations', () => {
  const rows = refused.map(([field, , rule]) => ({ fields: names(field!), rule: rule! }))

  test.each(contradictions)('%j is listed with its reason', spec => {
    const problems = checkCombinations(completeSpec({ handler: 'h', ...spec }))
    expect(problems.length).toBeGreaterThan(0)
    for (const { field, rule } of problems) {
      expect(rows.filter(row => row.fields.includes(field)).map(row => row.rule)).toContain(rule)
    }
  })

  test('every row of the page is a rule of the code', () => {
    const given = contradictions
      .flatMap(spec => checkCombinations(completeSpec({ handler: 'h', ...spec })))
      .map(({ rule }) => rule)
    expect(rows.map(({ rule }) => rule).filter(rule => !given.includes(rule))).toEqual([])
  })

  test('every rule of the code has its contradiction here', () => {
    const source = readText('src/core/spec/spec-combinations.ts')
    const clashes = source.match(/\bclash\(/g)!.length - 1
    // Rules that name the trigger stand for one row per kind.
    expect(
      new Set(refused.map(([field, , rule]) => `${field} ${rule}`)).size,
    ).toBeGreaterThanOrEqual(clashes)
  })
})

test('every limit is listed with its value', () => {
  const listed = tableUnder(text, 'Limits').map(([name, value]) => [
    names(name!)[0]!,
    Number(value!.replaceAll(',', '')),
  ])
  expect(Object.fromEntries(listed)).toEqual(limits)
})

test('every policy of the library is described', () => {
  const source = readText('src/library/policies.ts')
  for (const [name, heading] of [
    ['Policies', 'Policies'],
    ['RetryOptions', 'retry: after a failure'],
  ] as const) {
    const body = new RegExp(`interface ${name} \\{\n([\\s\\S]*?)\n\\}`).exec(source)![1]!
    const members = [...body.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(match => match[1]!)
    const described = tableUnder(text, heading).map(([cell]) => names(cell!)[0]!)
    expect(described.sort()).toEqual(members.sort())
  }
})
