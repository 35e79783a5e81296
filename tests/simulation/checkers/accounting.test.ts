import { expect, test } from 'vitest'
import { checkAccounting } from './accounting.ts'
import { brokenBy, goodHistory } from './sample.ts'
import type { Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkAccounting, bend)
const last = (draft: Draft) => draft.writes.at(-1)!.after!

test('a history as it should be is clean', () => {
  expect(checkAccounting(goodHistory())).toEqual([])
})

test('A1: a gap between the attempts of a run', () => {
  expect(broken(draft => (draft.writes[6]!.attempts[0]!.attempt = 3))).toEqual(['A1'])
})

test('A2: an attempt that ended twice', () => {
  const found = broken(draft => (draft.writes.at(-1)!.attempts[0]!.id = 'a1'))
  expect(found).toEqual(['A2'])
})

test('A2: a lease on a job that does not run', () => {
  const found = broken(draft => (draft.writes[2]!.after!.lease = draft.writes[1]!.after!.lease))
  expect(found).toEqual(['A2'])
})

test('A2: a job that waits for nothing', () => {
  expect(broken(draft => (last(draft).dueAt = null))).toEqual(['A2'])
})

test('A2: a job that ended without saying when', () => {
  expect(broken(draft => Object.assign(last(draft), { state: 'failed', dueAt: null }))).toContain(
    'A2',
  )
})

test('A3: more runs ended than were decided', () => {
  expect(broken(draft => (last(draft).counters.concluded = 30))).toEqual(['A3'])
})

test('A3: runs decided that never ended', () => {
  expect(broken(draft => (last(draft).counters.concluded = 1))).toEqual(['A3'])
})

test.each(['succeeded', 'failed', 'cancelled', 'other', 'skipped', 'durationMs'] as const)(
  'A4: a wrong sum of %s',
  key => {
    expect(broken(draft => last(draft).totals[key]++)).toEqual(['A4'])
  },
)

test('A5: a handler called without a claim', () => {
  expect(broken(draft => (draft.witness[0]!.node = 'node-1'))).toEqual(['A5'])
})

test('A5: a handler called twice for one claim', () => {
  expect(broken(draft => draft.witness.push({ ...draft.witness[0]! }))).toEqual(['A5'])
})

test('A5: a success no handler had', () => {
  expect(broken(draft => (draft.witness[0]!.ended = 'thrown'))).toEqual(['A5'])
})

test('A6: a gap between the numbers of a job', () => {
  expect(broken(draft => (draft.writes[4]!.attempts[0]!.number = 5))).toEqual(['A6'])
})

test('A6: a counter that runs ahead of history', () => {
  expect(broken(draft => last(draft).counters.attempts++)).toEqual(['A6'])
})
