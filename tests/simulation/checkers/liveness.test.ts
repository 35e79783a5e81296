import { expect, test } from 'vitest'
import { checkLiveness } from './liveness.ts'
import { brokenBy, goodHistory } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkLiveness, bend)
const lease = { token: 't', owner: 'node-9', attemptId: 'a', claimedAt: at(90), until: at(93) }

test('a history as it should be is clean', () => {
  expect(checkLiveness(goodHistory())).toEqual([])
})

test('F1: something due that nobody serves', () => {
  const starve = (draft: Draft) =>
    Object.assign(draft.dump.jobs[0]!, { dueAt: at(95), updatedAt: 0 })
  expect(broken(starve)).toEqual(['F1'])
})

test('F1: waiting is fine while every slot is taken', () => {
  const found = broken(draft => {
    Object.assign(draft.dump.jobs[0]!, { dueAt: at(95), updatedAt: 0 })
    const [one] = draft.witness
    for (const jobId of ['x', 'y']) {
      draft.witness.push({ ...one!, jobId, node: 'node-2', startedAt: at(90), endedAt: null })
    }
  })
  expect(found).toEqual([])
})

test('F1: a lease nobody holds any more', () => {
  const orphan = (draft: Draft) => Object.assign(draft.dump.jobs[0]!, { state: 'running', lease })
  expect(broken(orphan)).toEqual(['F1'])
})

test('F5: a lease that had ended long before it was reaped', () => {
  const found = broken(draft => {
    draft.writes.at(-1)!.before!.lease!.until = at(100)
  })
  expect(found).toEqual(['F5'])
})

test('F6: more handlers at once than slots', () => {
  const found = broken(draft => {
    const one = draft.witness.at(-1)!
    for (const jobId of ['x', 'y']) draft.witness.push({ ...one, jobId, startedAt: at(105.1) })
  })
  expect(found).toEqual(['F6'])
})
