// How much a node may hold: slots, a fixed or measured buffer, and no more.

import { expect, test } from 'vitest'
import { Room } from './room.ts'
import { engineSettings, type EngineSettings } from '../../runtime/settings.ts'

function room(settings: Partial<EngineSettings>): Room {
  return new Room(engineSettings({ nodeId: 'n', ...settings }))
}

function start(given: Room, queue: string, count: number): void {
  given.buffered(queue, count)
  for (let i = 0; i < count; i++) given.started(queue)
}

test('C4: one slot and a buffer of five take six, then one per completion', () => {
  const given = room({ queues: { sources: { slots: 1, buffer: 5 } } })
  expect(given.free('sources')).toBe(6)
  given.buffered('sources', 6)
  given.started('sources')
  expect(given.free('sources')).toBe(0)
  expect(given.hasSlot('sources')).toBe(false)
  given.finished('sources')
  given.started('sources')
  expect(given.free('sources')).toBe(1)
})

test('C4: a queue may have a fixed buffer although every queue is served', () => {
  const given = room({ slots: 1, buffers: { sources: 10 } })
  expect(given.free('sources')).toBe(11)
  expect(given.free('other')).toBe(1)
  const over = { sources: { buffer: 3 } }
  expect(room({ slots: 1, buffers: { sources: 10 }, queues: over }).free('sources')).toBe(4)
  expect(() => room({ buffers: { sources: -1 } })).toThrow(/buffers.sources/)
})

test('the slots of the node bound all queues together', () => {
  const given = room({ slots: 10, queues: { a: { slots: 8 }, b: { slots: 8 } } })
  start(given, 'a', 8)
  expect(given.free('a')).toBe(0)
  expect(given.free('b')).toBe(2)
  expect(given.running).toBe(8)
})

test('without a fixed buffer it holds what bufferMs of the present pace would finish', () => {
  const given = room({ slots: 1, bufferMs: 50, bufferMax: 30 })
  expect(given.free('a')).toBe(1)
  given.measure(0)
  start(given, 'a', 1)
  given.finished('a')
  given.measure(5)
  expect(given.free('a')).toBe(1 + 10)
  for (let i = 0; i < 1_000; i++) {
    start(given, 'a', 1)
    given.finished('a')
  }
  given.measure(6)
  expect(given.free('a')).toBe(1 + 30)
})

test('a pace that slows down shrinks the buffer', () => {
  const given = room({ slots: 1, bufferMs: 50 })
  given.measure(0)
  for (let at = 1; at <= 5; at++) {
    start(given, 'a', 1)
    given.finished('a')
    given.measure(at)
  }
  const before = given.free('a')
  start(given, 'a', 1)
  given.finished('a')
  given.measure(100_000)
  expect(given.free('a')).toBeLessThan(before)
})

test('one claim is never larger than a batch', () => {
  expect(room({ slots: 100_000, batchMax: 500 }).free('a')).toBe(500)
})

test('claims that went back are not made again until a run ends', () => {
  const given = room({ slots: 1, buffers: { sources: 5 } })
  given.buffered('sources', 6)
  given.started('sources')
  given.returned('sources', 5, 250)
  expect(given.free('sources')).toBe(0)
  given.finished('sources')
  expect(given.free('sources')).toBe(6)
})

test('a measured pace is forgotten with them, and measured anew after a second', () => {
  const given = room({ slots: 1, bufferMs: 50 })
  const work = (from: number, to: number) => {
    for (let at = from; at <= to; at++) {
      start(given, 'a', 1)
      given.finished('a')
      given.measure(at)
    }
  }
  work(1, 5)
  expect(given.free('a')).toBeGreaterThan(40)
  given.buffered('a', 1)
  given.started('a')
  given.buffered('a', 40)
  given.returned('a', 40, 300)
  expect(given.free('a')).toBe(0)
  given.finished('a')
  given.measure(301)
  expect(given.free('a')).toBe(1)
  work(302, 1_299)
  expect(given.free('a')).toBe(1)
  work(1_300, 1_301)
  expect(given.free('a')).toBeGreaterThan(40)
})

test('the pace of one queue says nothing about another', () => {
  const given = room({ slots: 2, bufferMs: 50, queues: { quick: {}, slow: { slots: 1 } } })
  start(given, 'slow', 1)
  for (let at = 1; at <= 5; at++) {
    start(given, 'quick', 1)
    given.finished('quick')
    given.measure(at)
  }
  expect(given.free('quick')).toBeGreaterThan(40)
  expect(given.free('slow')).toBe(0)
})
