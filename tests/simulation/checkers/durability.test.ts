import { expect, test } from 'vitest'
import { checkDurability } from './durability.ts'
import { brokenBy, goodHistory } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkDurability, bend)

test('a history as it should be is clean', () => {
  expect(checkDurability(goodHistory())).toEqual([])
})

test('D1: an acknowledged job that is gone', () => {
  expect(broken(draft => (draft.dump.jobs = []))).toContain('D1')
})

test('D1: gone is fine once someone may have removed it', () => {
  const found = broken(draft => {
    draft.dump.jobs = []
    draft.client.push({ ...draft.client[0]!, verb: 'remove', result: 'info' })
  })
  expect(found).toEqual([])
})

test('D1: an acknowledged pause, resume or cancel that does not hold', () => {
  for (const verb of ['pause', 'cancel']) {
    const call = (draft: Draft) => ({
      ...draft.client[0]!,
      verb,
      invokedAt: at(107),
      endedAt: at(107.1),
    })
    expect(broken(draft => draft.client.push(call(draft)))).toEqual(['D1'])
  }
  const paused = broken(draft => {
    Object.assign(draft.dump.jobs[0]!, {
      state: 'paused',
      pause: { at: 0, until: null, note: null },
    })
  })
  expect(paused).toEqual(['D1'])
})

test('D1: a promised run that is nowhere', () => {
  const found = broken(draft => {
    draft.client.push({ ...draft.client[0]!, verb: 'run', runId: 'j.77' })
  })
  expect(found).toEqual(['D1'])
})

test('D1: an attempt that is gone though it was to be kept', () => {
  expect(broken(draft => draft.dump.attempts.pop())).toEqual(['D1'])
})

test('D2: a success that reads otherwise later', () => {
  expect(broken(draft => (draft.dump.attempts[0]!.outcome = 'failed'))).toEqual(['D2'])
})
