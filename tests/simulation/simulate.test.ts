// Many worlds of many nodes: whatever goes wrong in them, every invariant holds.
// CARILLON_SEEDS=n runs n worlds, CARILLON_SEED=s only one and prints its trace.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkAll } from './checkers/index.ts'
import { requiredLabels } from './labels.ts'
import { reportOf, runSeeds } from './seeds.ts'
import { runSpread } from './spread.ts'
import { runSeed } from './world.ts'

const SEEDS = Number(process.env['CARILLON_SEEDS'] ?? 2_000)
const ONE = process.env['CARILLON_SEED']
/** Fewer worlds cannot be expected to show everything. */
const LABELLED_SEEDS = 1_000

interface Regression {
  readonly seed: number
  readonly why: string
}

const regressions = JSON.parse(
  readFileSync(new URL('regressions.json', import.meta.url), 'utf8'),
) as Regression[]

describe.skipIf(ONE === undefined)('one world', () => {
  test(`seed ${ONE} breaks no invariant`, async () => {
    const { lines, history } = await runSeed(Number(ONE), { keepsLines: true })
    console.log(lines.join(''))
    const violations = checkAll(history)
    const report = violations.length > 0 ? await reportOf(Number(ONE), violations) : ''
    expect(report).toBe('')
  })
})

describe.skipIf(ONE !== undefined)('many worlds', () => {
  test('worlds that once broke an invariant no longer do', async () => {
    const { failed } = await runSeeds(regressions.map(({ seed }) => seed))
    expect(failed.map(({ report }) => report).join('\n\n')).toBe('')
  })

  test('the same seed gives the same history, byte for byte', async () => {
    for (const seed of [1, 7, 42, 99, 123, 512, 1_001, 1_999]) {
      const first = await runSeed(seed)
      const second = await runSeed(seed)
      expect([seed, second.digest]).toEqual([seed, first.digest])
      expect(second.history.dump).toEqual(first.history.dump)
    }
  })

  test(`${SEEDS} worlds break no invariant`, { timeout: 900_000 }, async () => {
    const summary = await runSpread(1, SEEDS)
    const { failed, labels, ran, events, attempts, worldMs } = summary
    const hours = (worldMs / 3_600_000).toFixed(0)
    const lines = requiredLabels.map(name => `${name}: ${labels[name] ?? 0}`)
    lines.unshift(`${ran} worlds, ${hours} hours, ${events} events, ${attempts} handler calls`)
    console.log(lines.join('\n'))
    const reports = failed.slice(0, 3).map(({ report }) => report)
    expect(reports.join('\n\n'), `seeds ${failed.map(({ seed }) => seed).join(' ')}`).toBe('')
    const missing = requiredLabels.filter(name => SEEDS >= LABELLED_SEEDS && !labels[name])
    expect(missing).toEqual([])
  })
})
