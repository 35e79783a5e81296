// Starts and stops called in every order.

import { describe, expect, test } from 'vitest'
import { systemClock } from '../runtime/clock.ts'
import { Lifecycle } from './lifecycle.ts'

/** A lifecycle whose starts and stops end when the test says so. */
function recorded() {
  const lifecycle = new Lifecycle<string, string>()
  const log: string[] = []
  const open: Record<string, { resolve: () => void; reject: (error: Error) => void }> = {}
  const work = (name: string) => () => {
    log.push(`${name} begins`)
    return new Promise<string>((resolve, reject) => {
      open[name] = { resolve: () => resolve(name), reject }
    }).finally(() => log.push(`${name} ends`))
  }
  const settle = () => new Promise<void>(resolve => systemClock.soon(resolve))
  return {
    lifecycle,
    log,
    start: (name: string) => lifecycle.start(work(name)),
    stop: (name: string) => lifecycle.stop(work(name)),
    end: async (name: string) => {
      await settle()
      open[name]!.resolve()
      await settle()
    },
    fail: async (name: string) => {
      await settle()
      open[name]!.reject(new Error(`${name} failed`))
      await settle()
    },
  }
}

describe('start', () => {
  test('a second call gets the same promise, also when it has started', async () => {
    const { start, end, log } = recorded()
    const first = start('a')
    expect(start('b')).toBe(first)
    await end('a')
    expect(start('c')).toBe(first)
    expect(log).toEqual(['a begins', 'a ends'])
  })

  test('waits for a stop under way', async () => {
    const { start, stop, end, log } = recorded()
    void start('a')
    await end('a')
    void stop('b')
    void start('c')
    await end('b')
    await end('c')
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('one that failed can be tried again', async () => {
    const { lifecycle, start, fail, end } = recorded()
    const failed = start('a').catch((error: Error) => error.message)
    await fail('a')
    expect(await failed).toBe('a failed')
    expect(lifecycle.isStarted).toBe(false)
    const again = start('b')
    await end('b')
    await expect(again).resolves.toBe('b')
  })
})

describe('stop', () => {
  test('a second call gets the same result', async () => {
    const { start, stop, end, log } = recorded()
    void start('a')
    await end('a')
    const first = stop('b')
    expect(stop('c')).toBe(first)
    await end('b')
    expect(stop('d')).toBe(first)
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
  })

  test('waits for a start under way, and runs after one that failed', async () => {
    for (const isFailing of [false, true]) {
      const { lifecycle, start, stop, end, fail, log } = recorded()
      const started = start('a').catch(() => {})
      void stop('b')
      await (isFailing ? fail('a') : end('a'))
      await started
      await end('b')
      expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
      expect(lifecycle.isStopped).toBe(true)
    }
  })

  test('start, stop, start, stop at once happen in this order', async () => {
    const { start, stop, end, log } = recorded()
    void start('a')
    void stop('b')
    void start('c')
    void stop('d')
    for (const name of ['a', 'b', 'c', 'd']) await end(name)
    expect(log.filter(line => line.endsWith('begins')).map(line => line[0])).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })
})
