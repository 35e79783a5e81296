// Listeners hear what happened and change nothing, however badly they behave.

import { expect, test } from 'vitest'
import { Events, type EngineEvents } from './events.ts'

const ticked: EngineEvents['ticked'] = { tookMs: 1, claimed: 2 }

test('every listener of a name hears it, until it leaves', () => {
  const events = new Events()
  const heard: string[] = []
  const leave = events.on('ticked', () => heard.push('a'))
  events.on('ticked', () => heard.push('b'))
  events.on('removed', () => heard.push('c'))
  events.emit('ticked', ticked)
  leave()
  events.emit('ticked', ticked)
  expect(heard).toEqual(['a', 'b', 'b'])
})

test('says whether anyone listens', () => {
  const events = new Events()
  expect(events.isHeard('ticked')).toBe(false)
  const leave = events.on('ticked', () => {})
  expect(events.isHeard('ticked')).toBe(true)
  leave()
  expect(events.isHeard('ticked')).toBe(false)
})

test('one that throws stops neither the engine nor the others', () => {
  const events = new Events()
  const heard: unknown[] = []
  events.on('ticked', () => {
    throw new Error('bad listener')
  })
  events.on('ticked', event => heard.push(event))
  events.on('error', ({ kind, during }) => heard.push([kind, during]))
  events.emit('ticked', ticked)
  expect(heard).toEqual([['record', 'listener of ticked'], ticked])
})

test('one that throws on errors does not go round in circles', () => {
  const events = new Events()
  let calls = 0
  events.on('error', () => {
    calls++
    throw new Error('bad listener')
  })
  events.emit('error', { kind: 'store', error: null, during: 'tick' })
  expect(calls).toBe(1)
})
