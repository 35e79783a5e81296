// Long computations share the turns of the event loop, end when they take too long, and can be stopped.

import { describe, expect, it } from 'vitest'
import { Slices, TookTooLong, type Steps } from './slices.ts'

/** A clock on which every step takes 1 ms, and turns of the loop are taken by hand. */
function setup(turnMs: number) {
  const turns: (() => void)[] = []
  const log: string[] = []
  let now = 0
  const slices = new Slices(
    { monotonic: () => now, soon: callback => turns.push(callback) },
    turnMs,
  )
  function* steps(name: string, count: number): Steps<string> {
    for (let i = 1; i <= count; i++) {
      now++
      log.push(`${name}${i}`)
      if (i < count) yield
    }
    return name
  }
  const turn = (): string[] => {
    for (const callback of turns.splice(0)) callback()
    return log.splice(0)
  }
  return { slices, steps, turn, log }
}

describe('S4: computations in slices', () => {
  it('a small one is done at once', async () => {
    const { slices, steps, log } = setup(10)
    const done = slices.run(steps('a', 3))
    expect(log).toEqual(['a1', 'a2', 'a3'])
    expect(await done).toBe('a')
  })

  it('all of them together hold a turn of the loop no longer than one', async () => {
    const { slices, steps, turn, log } = setup(4)
    const all = Promise.all([slices.run(steps('a', 6)), slices.run(steps('b', 3))])
    expect(log.splice(0)).toEqual(['a1', 'a2', 'a3', 'a4'])
    expect(turn()).toEqual(['a5', 'b1', 'a6', 'b2'])
    expect(turn()).toEqual(['b3'])
    expect(await all).toEqual(['a', 'b'])
  })

  it('one that takes too long fails, and the others go on', async () => {
    const { slices, steps, turn } = setup(2)
    const long = slices.run(steps('a', 1_000), { totalMs: 3 })
    const other = slices.run(steps('b', 2))
    while (turn().length > 0);
    await expect(long).rejects.toThrow(TookTooLong)
    await expect(long).rejects.toThrow('took more than 3 ms of CPU time')
    expect(await other).toBe('b')
  })

  it('one that is aborted or throws rejects with the reason', async () => {
    const { slices, steps, turn } = setup(1)
    const controller = new AbortController()
    const stopped = slices.run(steps('a', 9), { signal: controller.signal })
    controller.abort(new Error('cancelled'))
    turn()
    await expect(stopped).rejects.toThrow('cancelled')
    // oxlint-disable-next-line require-yield -- it never gets that far
    function* broken(): Steps<never> {
      throw new Error('broken')
    }
    const failed = slices.run(broken())
    turn()
    await expect(failed).rejects.toThrow('broken')
  })
})
