// Troubles are told once per episode and read by everyone from one place.

import { expect, it } from 'vitest'
import type { TroubleReport } from '../core/alerts/trouble.ts'
import { Events } from './events.ts'
import { Troubles } from './troubles.ts'

const slow: TroubleReport = {
  code: 'store_slow',
  message: 'claims take longer than the lease',
  level: 'warn',
  isBlocking: true,
}

function make() {
  let now = 1_000
  const events = new Events()
  const heard: string[] = []
  events.on('troubled', ({ trouble }) => heard.push(`raised ${trouble.code} at ${trouble.since}`))
  events.on('troubleOver', ({ trouble, afterMs }) =>
    heard.push(`over ${trouble.code} after ${afterMs}`),
  )
  const troubles = new Troubles({ now: () => now }, events)
  return { troubles, heard, pass: (ms: number) => (now += ms) }
}

it('tells the beginning and the end of an episode once each', () => {
  const { troubles, heard, pass } = make()
  troubles.raise(slow)
  pass(500)
  troubles.raise({ ...slow, message: 'slower still' })
  expect(troubles.list).toEqual([{ ...slow, message: 'slower still', since: 1_000 }])
  expect(troubles.isBlocked).toBe(true)
  pass(500)
  troubles.clear('store_slow')
  troubles.clear('store_slow')
  expect(heard).toEqual(['raised store_slow at 1000', 'over store_slow after 1000'])
  expect(troubles.list).toEqual([])
  expect(troubles.isBlocked).toBe(false)
})

it('tells a new episode again', () => {
  const { troubles, heard } = make()
  troubles.raise(slow)
  troubles.clear('store_slow')
  troubles.raise(slow)
  expect(heard).toHaveLength(3)
})

it('is not blocked by what only needs a look', () => {
  const { troubles } = make()
  troubles.raise({ ...slow, code: 'disk_low', isBlocking: false })
  expect(troubles.has('disk_low')).toBe(true)
  expect(troubles.isBlocked).toBe(false)
})
