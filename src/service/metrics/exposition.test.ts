// The text format, read back by a parser that refuses what a scraper would refuse.

import { expect, it } from 'vitest'
import { parseExposition, valueOf } from '../../../tests/support/exposition.ts'
import { exposition, Histogram, type Metric } from './exposition.ts'
import { QueueLabels } from './queue-labels.ts'

const counter = (labels: Record<string, string>): Metric => ({
  name: 'x_total',
  type: 'counter',
  help: 'one \\ two\nthree',
  samples: [{ labels, value: 1 }],
})

it.each(['plain', 'a "b"', 'a\nb', 'a\\', '\\n', '\\"', 'a,b="c"', '{}', ' ü '])(
  'N4 a queue named %j is one label that reads back',
  queue => {
    const text = exposition([counter({ queue, outcome: 'failed' })])
    const families = parseExposition(text)
    expect(valueOf(families, 'carillon_x_total', { queue, outcome: 'failed' })).toBe(1)
    expect(text.split('\n')).toHaveLength(4)
    expect(families[0]!.help).toBe('one \\\\ two\\nthree')
  },
)

it('N4 buckets are cumulative and include their bound; +Inf is the count', () => {
  const histogram = new Histogram([0.5, 1])
  for (const value of [0.1, 0.5, 0.6, 1, 9]) histogram.observe(value)
  const samples = [{ labels: {}, histogram }]
  const text = exposition([{ name: 'h', type: 'histogram', help: 'h', samples }])
  const families = parseExposition(text)
  const upTo = (le: string) => valueOf(families, 'carillon_h_bucket', { le })
  expect([upTo('0.5'), upTo('1'), upTo('+Inf')]).toEqual([2, 4, 5])
  expect(valueOf(families, 'carillon_h_count')).toBe(5)
  expect(valueOf(families, 'carillon_h_sum')).toBeCloseTo(11.2)
})

it('N4 a metric without samples is left out', () => {
  expect(exposition([{ ...counter({}), samples: [] }]).trim()).toBe('')
})

it('N4 a queue keeps its label, whatever comes after it; `other` never names one queue', () => {
  const labels = new QueueLabels(['default'])
  expect(labels.labelOf('other')).toBe('other')
  const all = Array.from({ length: 60 }, (_, i) => labels.labelOf(`q${i}`))
  expect(new Set(all).size).toBe(50)
  expect(labels.labelOf('q0')).toBe('q0')
  expect(labels.labelOf('q59')).toBe('other')
  expect(labels.all).toHaveLength(51)
})

it.each([
  ['carillon_x_total 1\n', 'without HELP and TYPE'],
  ['# HELP x x\n# TYPE x gauge\nx 1\n# TYPE x gauge\n', 'TYPE twice'],
  ['# HELP x x\nx 1\n# TYPE x gauge\n', 'without HELP and TYPE'],
  ['# HELP x x\n# TYPE x gauge\nx{a="b"c"} 1\n', 'not a label'],
  [
    '# HELP h h\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
    'not cumulative',
  ],
  ['# HELP x x\n# TYPE x gauge\nx 1', 'the last line has no end'],
])('N4 the parser refuses %j: %s', (text, why) => {
  expect(() => parseExposition(text)).toThrow(why)
})
