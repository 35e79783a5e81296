import { describe, expect, test } from 'vitest'
import { checkOccurrences } from './occurrences.ts'
import { brokenBy, goodHistory, nth } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkOccurrences, bend)
const skipOf = (draft: Draft, reason: string) =>
  draft.writes.flatMap(({ skips }) => skips).find(skip => skip.reason === reason)!

test('a history as it should be is clean', () => {
  expect(checkOccurrences(goodHistory())).toEqual([])
})

describe('T1 to T3: exactly one decision for each moment of the schedule', () => {
  test('a moment without a decision', () => {
    expect(broken(draft => (draft.writes[nth(draft, 'commit', 3)]!.skips = []))).toContain('T1')
    expect(broken(draft => (draft.writes[2]!.attempts = []))).toContain('T1')
  })

  test('a moment decided twice', () => {
    const doubled = broken(draft => {
      const skip = { ...skipOf(draft, 'coalesced'), from: at(20), to: at(20), count: 1 }
      draft.writes.at(-1)!.skips.push(skip)
    })
    expect(doubled).toContain('T2')
  })

  test('two runs of one moment', () => {
    const twice = broken(draft => {
      draft.writes.at(-1)!.attempts[0]!.occurrence = at(95)
    })
    expect(twice).toContain('T2')
  })

  test('a run of a moment that is not on the schedule', () => {
    expect(broken(draft => (draft.writes[2]!.attempts[0]!.occurrence = at(12)))).toContain('T3')
  })

  test('a skip that counts wrongly', () => {
    expect(broken(draft => (skipOf(draft, 'paused').count = 3))).toEqual(['T3'])
  })

  test('a resume that keeps the old rhythm of a floating interval', () => {
    const kept = broken(draft => {
      draft.writes.at(-1)!.attempts[0]!.occurrence = at(100)
    })
    expect(kept).toContain('T3')
  })
})

describe('T4: skips have reasons their policy allows', () => {
  test.each([
    ['missed', 'nothing was late under once'],
    ['cap', 'there is no catch-up to cap'],
    ['overlap', 'no run was under way'],
    ['stopped', 'the job had not failed'],
    ['budget', 'nothing waits for a failure period'],
    ['crash_loop', 'nothing crashed'],
    ['edited', 'nobody edited'],
    ['cancelled', 'nobody cancelled'],
    ['weather', 'no such reason'],
  ])('%s when %s', reason => {
    const found = broken(draft => (skipOf(draft, 'coalesced').reason = reason as 'cap'))
    expect(found).toEqual(['T4'])
  })
})

describe('T7, T10, T11', () => {
  test('a cursor that goes back', () => {
    const back = broken(draft => {
      const write = draft.writes[nth(draft, 'commit', 2)]!
      write.after!.nextAt = at(10)
    })
    expect(back).toContain('T7')
  })

  test('an interval from the finish that drifts', () => {
    const drifts = broken(draft => {
      for (const { before, after } of draft.writes) {
        for (const row of [before, after]) {
          if (row?.spec.trigger.kind === 'interval') row.spec.trigger.from = 'finish'
        }
      }
    })
    expect(drifts).toContain('T7')
  })

  test('more runs granted at once than the policy allows', () => {
    expect(broken(draft => (draft.writes[8]!.after!.backlog = 9))).toEqual(['T10'])
  })

  test('more runs than the limit', () => {
    expect(broken(draft => (draft.writes.at(-1)!.after!.spec.runLimit = 3))).toEqual(['T11'])
  })

  test('completed before the limit', () => {
    const early = broken(draft => {
      const row = draft.writes.at(-1)!.after!
      Object.assign(row, { state: 'completed', ended: { at: at(105.5), reason: 'completed' } })
      row.spec.runLimit = 9
    })
    expect(early).toEqual(['T11'])
  })
})
