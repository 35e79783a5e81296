// The checkers are only worth something if they see mistakes: each of these is found.

import { expect, test } from 'vitest'
import { checkAll } from './checkers/index.ts'
import { mutants } from './mutants.ts'
import { runSeed } from './world.ts'

const SEEDS_MAX = 200

test.each(mutants)('$name: found by the checkers', { timeout: 120_000 }, async mutant => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { history } = await runSeed(seed, { mutant })
    for (const { inv } of checkAll(history)) seen.add(inv)
    if (mutant.breaks.some(inv => seen.has(inv))) return
  }
  expect([...seen], `not found in ${SEEDS_MAX} worlds`).toEqual(mutant.breaks)
})

test('there are enough mistakes, each with a name of its own', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(12)
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})
