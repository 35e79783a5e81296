import { expect, test } from 'vitest'
import type { RunRequest } from '../../../src/core/job.ts'
import { noRun } from '../../../src/core/job.ts'
import { checkRequests } from './requests.ts'
import { brokenBy, goodHistory } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkRequests, bend)

/** The last two runs as if a person had asked for them at the resume. */
function asked(draft: Draft, more: Partial<RunRequest>): void {
  const request = { ...noRun, id: 'r', dueAt: at(75), payload: undefined, ...more } as RunRequest
  const resume = draft.writes.find(({ verb }) => verb === 'resume')!
  resume.verb = more.kind === 'backfill' ? 'backfill' : 'run'
  resume.after!.requests = [request as never]
  for (const write of draft.writes.slice(-3)) {
    write.before!.serving = 'r'
    for (const attempt of write.attempts) attempt.origin = more.kind!
  }
}

const range = { kind: 'backfill', occurrence: at(90), to: at(110) } as const

test('a history as it should be is clean', () => {
  expect(checkRequests(goodHistory())).toEqual([])
})

test('a run that was asked for', () => {
  const manual = { kind: 'manual', occurrence: at(75), to: null } as const
  expect(broken(draft => asked(draft, manual))).toEqual([])
})

test('a run nobody asked for', () => {
  expect(broken(draft => (draft.writes.at(-1)!.attempts[0]!.origin = 'manual'))).toEqual(['T3'])
})

test('a backfill that keeps to its range, leaves it, or goes back in it', () => {
  const fill = (...moments: number[]) =>
    broken(draft => {
      asked(draft, range)
      draft.writes.at(-3)!.attempts[0]!.occurrence = at(moments[0]!)
      draft.writes.at(-1)!.attempts[0]!.occurrence = at(moments[1]!)
    })
  expect(fill(90, 100)).toEqual([])
  expect(fill(90, 105)).toEqual(['T3'])
  expect(fill(100, 90)).toEqual(['T3'])
})
