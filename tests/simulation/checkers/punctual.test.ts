import { expect, test } from 'vitest'
import { checkPunctual } from './punctual.ts'
import { brokenBy, goodHistory, nth } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkPunctual, bend)

test('a history as it should be is clean', () => {
  expect(checkPunctual(goodHistory())).toEqual([])
})

test('T5: a claim a millisecond early', () => {
  expect(broken(draft => (draft.writes[nth(draft, 'claim', 0)]!.at = at(10) - 1))).toEqual(['T5'])
})

test('T5: a handler called before its occurrence', () => {
  expect(broken(draft => (draft.witness[0]!.startedAt = at(9)))).toEqual(['T5'])
})

test('T6: a late claim while all was well', () => {
  expect(broken(draft => (draft.writes[nth(draft, 'claim', 5)]!.at = at(104)))).toEqual(['T6'])
})

test('T6: late is no violation during an outage', () => {
  expect(goodHistory().writes[nth(goodHistory() as Draft, 'claim', 3)]!.at).toBe(at(53))
})

test('T6: late for want of a slot is no violation', () => {
  const found = broken(draft => {
    draft.writes[nth(draft, 'claim', 5)]!.at = at(104)
    for (const jobId of ['x', 'y']) {
      const [one] = draft.witness
      draft.witness.push({
        ...one!,
        jobId,
        startedAt: at(90),
        endedAt: at(104),
        occurrence: at(90),
      })
    }
  })
  expect(found).toEqual([])
})
