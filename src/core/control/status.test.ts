// B3: the seven words, and which may follow which.

import { expect, test } from 'vitest'
import { made } from '../../../tests/support/pure.ts'
import { assertTransition, mayBecome, statusOf, transitions, type Status } from './status.ts'

const all = Object.keys(transitions) as Status[]
const allowed: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['scheduled', 'running', 'cancelled'],
  scheduled: ['running', 'paused', 'cancelled'],
  paused: ['scheduled', 'cancelled'],
  running: ['completed', 'failed', 'scheduled', 'cancelled'],
  completed: ['scheduled'],
  failed: ['pending'],
  cancelled: [],
}

function jobThatIs(status: Status) {
  const job = made()
  if (status === 'pending') return job
  if (status === 'scheduled') return { ...job, waitingFor: 'firing' as const }
  return { ...job, state: status }
}

for (const from of all) {
  for (const to of all) {
    const isAllowed = allowed[from].includes(to)
    test(`B3: ${from} → ${to} is ${isAllowed ? 'allowed' : 'refused'}`, () => {
      const attempt = () => assertTransition(jobThatIs(from), to, 'move')
      if (isAllowed) expect(attempt).not.toThrow()
      else expect(attempt).toThrow(`it is ${from} and cannot become ${to}`)
      expect(mayBecome(from, to)).toBe(isAllowed || from === to)
    })
  }
}

test.each(all)('%s reads as itself', status => {
  expect(statusOf(jobThatIs(status))).toBe(status)
})

test('waiting for a retry reads as scheduled', () => {
  expect(statusOf({ ...made(), waitingFor: 'retry' })).toBe('scheduled')
})
