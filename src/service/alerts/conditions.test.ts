// What is worth an alert, and what is not.

import { describe, expect, it } from 'vitest'
import { SECOND } from '../../core/time.ts'
import {
  alertDefaults,
  judgeDelay,
  judgeJob,
  judgeNode,
  judgeStaleLocks,
  type Finding,
  type NodeFacts,
} from './conditions.ts'
import { Window } from './window.ts'

const well: NodeFacts = {
  errors: 0,
  rounds: 30,
  runs: 100,
  claims: { failed: 0, done: 6 },
  storeDownMs: null,
}

const raised = (found: readonly Finding[]) =>
  found.filter(one => one.isRaised).map(one => one.condition)

const runs = (outcome: 'succeeded' | 'failed' | 'cancelled', count: number, tookMs = 100) =>
  Array.from({ length: count }, () => ({ outcome, startedAt: 0, finishedAt: tookMs }))

const node = (facts: Partial<NodeFacts>) => raised(judgeNode({ ...well, ...facts }, alertDefaults))
const job = (...attempts: ReturnType<typeof runs>[]) =>
  raised(judgeJob('crawl', attempts.flat(), alertDefaults))

describe('D9: what is wrong with a node', () => {
  it.each<[string, Partial<NodeFacts>, string[]]>([
    ['nothing', {}, []],
    ['5 % errors exactly', { errors: 5, rounds: 0, runs: 95 }, []],
    ['more than 5 % errors', { errors: 6, rounds: 0, runs: 94 }, ['error_rate']],
    ['one error of a node that does nothing', { errors: 1, rounds: 0, runs: 0 }, []],
    ['half of the claims fail', { claims: { failed: 3, done: 3 } }, []],
    ['more than half of the claims fail', { claims: { failed: 4, done: 3 } }, ['claims_failing']],
    ['the store is down for 30 s', { storeDownMs: 30 * SECOND }, []],
    ['the store is down for longer', { storeDownMs: 30 * SECOND + 1 }, ['store_down']],
  ])('%s', (_, facts, expected) => {
    expect(node(facts)).toEqual(expected)
  })

  it.each([
    [null, []],
    [-5_000, []],
    [60 * SECOND, []],
    [60 * SECOND + 1, ['processing_delay']],
  ])('the oldest due job waits %s ms', (oldest, expected) => {
    expect(raised(judgeDelay(oldest, alertDefaults))).toEqual(expected)
  })
})

describe('B19: what is wrong with a job', () => {
  it.each<[string, ReturnType<typeof runs>[], string[]]>([
    ['it never ran', [], []],
    ['4 failures are too few to tell', [runs('failed', 4)], []],
    ['all of 5 failed', [runs('failed', 5)], ['success_rate']],
    ['80 % exactly', [runs('failed', 4), runs('succeeded', 16)], []],
    ['less than 80 %', [runs('failed', 5), runs('succeeded', 15)], ['success_rate']],
    ['only the last 20 count', [runs('succeeded', 20), runs('failed', 80)], []],
    ['cancelled ones do not count', [runs('cancelled', 20), runs('succeeded', 5)], []],
    ['twice as long exactly', [runs('succeeded', 5, 4_000), runs('succeeded', 9, 2_000)], []],
    ['longer', [runs('succeeded', 5, 4_001), runs('succeeded', 9, 2_000)], ['slow_runs']],
    ['too few to compare', [runs('succeeded', 5, 90_000), runs('succeeded', 4, 10)], []],
    ['short whatever they were', [runs('succeeded', 5, 999), runs('succeeded', 9, 1)], []],
  ])('%s', (_, attempts, expected) => {
    expect(job(...attempts)).toEqual(expected)
  })

  it.each([
    [[], []],
    [[1, 2, 3], []],
    [[0, 1, 2, 3], ['stale_locks']],
    [[0, 1, 1, 2, 3], []],
    [[0, 5, 6, 7, 7], []],
  ])('cleared leases %j', (counts, expected) => {
    expect(raised(judgeStaleLocks(counts, alertDefaults))).toEqual(expected)
  })

  it.each<[string, ReturnType<typeof runs>, string[]]>([
    ['one that was given up', runs('failed', 1), ['success_rate']],
    ['one that was cancelled', runs('cancelled', 1), []],
    ['one after a success', [...runs('failed', 1), ...runs('succeeded', 1)], []],
  ])('few runs, %s', (_, attempts, expected) => {
    expect(raised(judgeJob('x', attempts, alertDefaults, true))).toEqual(expected)
  })

  it('says what it is, how much and of whom', () => {
    const [found] = judgeJob('crawl', runs('failed', 5), alertDefaults)
    expect(found!.message).toBe('the success rate of "crawl" is 0 %, below 80 %')
  })
})

it('a condition that is switched off is not judged', () => {
  const off = Object.fromEntries(Object.keys(alertDefaults).map(name => [name, null]))
  const limits = { ...alertDefaults, ...off }
  expect(judgeNode(well, limits)).toEqual([])
  expect(judgeJob('x', runs('failed', 9), limits)).toEqual([])
  expect(judgeStaleLocks([0, 1, 2, 3], limits)).toEqual([])
})

describe('a window', () => {
  it('forgets what is older than its length', () => {
    const window = new Window(60_000)
    window.add(1_000_000)
    window.add(1_030_000, 4)
    expect(window.sum(1_050_000)).toBe(5)
    expect(window.sum(1_061_000)).toBe(4)
    expect(window.sum(1_100_000)).toBe(0)
  })

  it('starts anew when the clock goes back', () => {
    const window = new Window(60_000)
    window.add(9_000_000, 7)
    window.add(1_000_000)
    expect(window.sum(1_000_000)).toBe(1)
  })
})
