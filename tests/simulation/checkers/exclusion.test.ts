import { describe, expect, test } from 'vitest'
import { checkExclusion } from './exclusion.ts'
import { brokenBy, goodHistory, nth } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkExclusion, bend)

test('a history as it should be is clean', () => {
  expect(checkExclusion(goodHistory())).toEqual([])
})

describe('E1 and E2', () => {
  test('a fence given twice', () => {
    const found = broken(draft => (draft.writes[nth(draft, 'claim', 1)]!.after!.counters.fence = 1))
    expect(found).toContain('E1')
  })

  test('an attempt after the success of its run', () => {
    const found = broken(draft => (draft.writes.at(-1)!.attempts[0]!.run = 1))
    expect(found).toContain('E2')
  })
})

describe('E3: stale writes', () => {
  test('a write with a token that is not the lease', () => {
    expect(broken(draft => (draft.writes[2]!.token = 'other'))).toEqual(['E3'])
  })

  test('a write over a version its writer had not seen', () => {
    expect(broken(draft => (draft.writes[2]!.expectedVersion = 1))).toEqual(['E3'])
  })

  test('a write that steps no version', () => {
    expect(broken(draft => (draft.writes[2]!.after!.version = 2))).toEqual(['E3'])
  })

  test('an attempt that was not the one under lease', () => {
    expect(broken(draft => (draft.writes[2]!.attempts[0]!.fence = 7))).toEqual(['E3'])
  })

  test('a refused commit that changed the row', () => {
    const refusal = { at: at(11), node: 'node-1', jobId: 'j', result: 'conflict' } as const
    const more = { token: 't1', attempt: null, isChanged: true }
    expect(broken(draft => draft.refusals.push({ ...refusal, ...more }))).toEqual(['E3'])
  })
})

describe('E4 to E6', () => {
  test('a claim of a job that is running', () => {
    const found = broken(draft => (draft.writes[nth(draft, 'claim', 2)]!.before!.state = 'running'))
    expect(found).toEqual(['E4'])
  })

  test('two handlers at once without a reason', () => {
    expect(broken(draft => (draft.witness[1]!.endedAt = at(30)))).toEqual(['E5'])
  })

  test('two handlers at once because the first node was frozen', () => {
    const found = broken(draft => {
      draft.witness[1]!.endedAt = at(30)
      draft.faults.push({ kind: 'freeze', node: 'node-0', from: at(20), to: at(30) })
    })
    expect(found).toEqual([])
  })

  test('a healthy node that loses its lease', () => {
    const found = broken(draft => {
      draft.writes.at(-1)!.attempts[0]!.outcome = 'abandoned'
    })
    expect(found).toEqual(['E5'])
  })

  test('a handler begun after its lease had ended', () => {
    expect(broken(draft => (draft.witness.at(-1)!.leaseUntil = at(104)))).toEqual(['E6'])
  })
})

describe('E7: keys', () => {
  test('a retry with another key', () => {
    expect(broken(draft => (draft.witness[2]!.key = 'j.9'))).toEqual(['E7'])
  })

  test('one key for two moments', () => {
    const found = broken(draft => {
      Object.assign(draft.witness[3]!, { key: 'j.1', run: 1 })
    })
    expect(found).toEqual(['E7'])
  })
})
