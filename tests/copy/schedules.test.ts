// Schedules that began on one store go on in its copy: every occurrence is decided exactly once.

import { describe, expect, it } from 'vitest'
import { copyStore } from '../../src/copy/copy.ts'
import type { LedgerEntry } from '../../src/core/history/ledger.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { gate, ok } from '../support/scripted.ts'
import { everyMinute, spec } from '../support/builders.ts'
import { openPostgres } from '../support/postgres.ts'
import { openRedis } from '../support/redis.ts'
import { openSqlite } from '../support/sqlite.ts'
import { openMemory } from '../support/stores.ts'
import { makeWorld, moment, type World } from '../support/world.ts'
import { serversMissing } from './places.ts'

const at = '2026-01-05T12:00:00Z'
const cron = {
  kind: 'cron',
  expression: '*/2 * * * *',
  zone: 'UTC',
  dialect: 'extended',
  dst: null,
} as const

/** How many decisions the ledger holds for each moment of the grid. */
function decisions(ledger: readonly LedgerEntry[], stepMs: number): Map<number, number> {
  const found = new Map<number, number>()
  for (const { from, to, count } of ledger) {
    let counted = 0
    for (let time = from; time <= to; time += stepMs) {
      found.set(time, (found.get(time) ?? 0) + 1)
      counted++
    }
    expect(counted).toBe(count)
  }
  return found
}

/** Every moment of the grid before the end, once. */
async function checkGrid(world: World, id: string, stepMs: number): Promise<void> {
  const found = decisions(await world.ledger(id), stepMs)
  const first = moment(at) + stepMs
  const expected: [number, number][] = []
  for (let time = first; time <= world.now; time += stepMs) expected.push([time, 1])
  expect([...found].sort((a, b) => a[0] - b[0])).toEqual(expected)
}

const pairs = [
  ['memory', 'sqlite', openMemory, openSqlite],
  ['sqlite', 'sqlite', openSqlite, openSqlite],
  ['sqlite', 'postgres', openSqlite, openPostgres],
  ['postgres', 'redis', openPostgres, openRedis],
  ['redis', 'memory', openRedis, openMemory],
] as const
const here = pairs.filter(
  ([a, b]) => serversMissing === null || ![a, b].some(kind => /postgres|redis/.test(kind)),
)

describe('a schedule', () => {
  it.each(here)('begun on %s goes on in its copy on %s', async (_, __, openA, openB) => {
    const a = await makeWorld({ at, open: openA })
    const stuck = gate()
    const handlers = { work: ok, slow: stuck.handler }
    const crashed = await a.node('a1', handlers)
    await a.create('beat', spec(everyMinute))
    await a.create('cron', spec({ trigger: cron }))
    await a.create('slow', spec({ ...everyMinute, handler: 'slow', timeoutMs: null }))
    await a.advance('10m30s')
    await a.crash(crashed)
    // Nobody is left; leases and the node's own record lapse.
    await a.advance('7m')
    const b = await makeWorld({ at: a.now, open: openB })
    const [from, to] = [
      { store: a.store, name: 'a' },
      { store: b.store, name: 'b' },
    ]
    const report = await copyStore({ from, to })
    expect(report).toMatchObject({ abandoned: 1, hasChanged: false })
    await b.node('b1', { work: ok, slow: ok })
    await b.advance('15m')
    for (const [id, stepMs] of [
      ['beat', MINUTE],
      ['cron', 2 * MINUTE],
    ] as const) {
      await checkGrid(b, id, stepMs)
      const runs = [...a.runs, ...b.runs].filter(run => run.job === id)
      expect(new Set(runs.map(run => run.occurrence)).size).toBe(runs.length)
      expect(new Set(runs.map(run => run.run)).size).toBe(runs.length)
    }
    // The run the dead node was at is tried again: the same run, the next attempt.
    await checkGrid(b, 'slow', MINUTE)
    const [before] = a.runs.filter(run => run.job === 'slow')
    const [after] = b.runs.filter(run => run.job === 'slow')
    expect(after).toMatchObject({ occurrence: before!.occurrence, run: 1, attempt: 2, fence: 2 })
    expect(b.now - moment(at)).toBeLessThan(HOUR)
  })
})
