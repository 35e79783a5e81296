import { expect, test } from 'vitest'
import { checkStates } from './states.ts'
import { brokenBy, goodHistory, nth } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkStates, bend)

test('a history as it should be is clean', () => {
  expect(checkStates(goodHistory())).toEqual([])
})

test('S1: a move that is not in the table', () => {
  expect(broken(draft => (draft.writes[2]!.before!.state = 'completed'))).toEqual(['S1'])
})

test('S2: a write over a cancelled job', () => {
  expect(broken(draft => (draft.writes[2]!.before!.state = 'cancelled'))).toContain('S2')
})

test('S3: a claim while the job is paused', () => {
  const found = broken(draft => {
    const claim = draft.writes[nth(draft, 'claim', 4)]!
    const pause = draft.writes.findIndex(({ verb }) => verb === 'pause')
    draft.writes.splice(pause + 1, 0, { ...claim, at: at(60) })
  })
  expect(found).toContain('S3')
})

test('S3: a handler that is never told its run was cancelled', () => {
  const cancelled = (draft: Draft) => {
    const write = draft.writes[nth(draft, 'commit', 8)]!
    Object.assign(write, { verb: 'cancel run', at: at(95.2) })
    draft.witness.find(({ fence }) => fence === 6)!.endedAt = at(104)
  }
  expect(broken(cancelled)).toEqual(['S3'])
  const told = broken(draft => {
    cancelled(draft)
    draft.witness.find(({ fence }) => fence === 6)!.abortedAt = at(95.8)
  })
  expect(told).toEqual([])
})
