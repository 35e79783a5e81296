// How long an answer that was slow to count is given again.

import { expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../core/time.ts'
import { SlowAnswers } from './slow-answers.ts'

function counter(tookMs: number) {
  let now = 0
  let counted = 0
  const answers = new SlowAnswers<number>({ monotonic: () => now })
  const ask = (key = 'all') =>
    answers.get(key, async () => {
      await Promise.resolve()
      now += tookMs
      return ++counted
    })
  return { ask, pass: (ms: number) => (now += ms) }
}

it('N1 an answer that took a second is given again for twenty', async () => {
  const { ask, pass } = counter(SECOND)
  expect(await ask()).toBe(1)
  pass(19 * SECOND)
  expect(await ask()).toBe(1)
  pass(SECOND)
  expect(await ask()).toBe(2)
})

it('one that took no time is counted anew', async () => {
  const { ask } = counter(0)
  expect([await ask(), await ask()]).toEqual([1, 2])
})

it('no answer is older than a minute', async () => {
  const { ask, pass } = counter(30 * SECOND)
  await ask()
  pass(MINUTE)
  expect(await ask()).toBe(2)
})

it('those who ask at the same time share one, others have their own', async () => {
  const { ask } = counter(SECOND)
  expect(await Promise.all([ask(), ask(), ask('acme')])).toEqual([1, 1, 2])
})

it('a failure reaches all who wait, and the next call tries again', async () => {
  let calls = 0
  const answers = new SlowAnswers<number>({ monotonic: () => 0 })
  const ask = () =>
    answers.get('all', () =>
      ++calls === 1 ? Promise.reject(new Error('away')) : Promise.resolve(calls),
    )
  const [first, second] = await Promise.allSettled([ask(), ask()])
  expect([first.status, second.status]).toEqual(['rejected', 'rejected'])
  expect(await ask()).toBe(2)
})
