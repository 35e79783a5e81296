// Hand-over times are measured from the right moment to the right start.

import { expect, test } from 'vitest'
import { handovers, longestReapMs, unexplainedRepeats } from './handover.ts'
import { attempt, goodHistory, linesOf } from './sample.ts'

function handedOver(outcome: 'abandoned' | 'interrupted' | 'succeeded') {
  const first = { ...attempt('long-1', 1, 1_000), outcome, finishedAt: 1_400 }
  const second = { ...attempt('long-1', 2, 1_000), run: 1, attempt: 2, owner: 'n2' }
  const lines = [...linesOf(first), ...linesOf(second)].map(line =>
    'id' in line && line.id === second.id ? { ...line, at: line.at + 900 } : line,
  )
  return { ...goodHistory(), attempts: [first, second], lines }
}

test('after a kill it counts from the kill', () => {
  const gone = [{ node: 'n1', how: 'killed', at: 1_100 }] as const
  expect(handovers(handedOver('abandoned'), gone, 'killed')).toEqual({ count: 1, longestMs: 802 })
  expect(handovers(handedOver('abandoned'), gone, 'stopped')).toEqual({ count: 0, longestMs: 0 })
  expect(longestReapMs(handedOver('abandoned'), gone)).toBe(300)
})

test('after a stop it counts from when the run was given back', () => {
  const gone = [{ node: 'n1', how: 'stopped', at: 1_100 }] as const
  const expected = { count: 1, longestMs: 502 }
  expect(handovers(handedOver('interrupted'), gone, 'stopped')).toEqual(expected)
})

test('a run that was called again for no reason is named', () => {
  expect(unexplainedRepeats(handedOver('abandoned'))).toEqual([])
  expect(unexplainedRepeats(handedOver('succeeded'))[0]).toMatch(/long-1.1 ran again/)
})
