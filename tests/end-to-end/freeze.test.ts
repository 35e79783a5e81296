// Two processes on one file, one of them stopped past its lease and woken again: what it then brings
// back is refused, and every occurrence keeps its one decision.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { Child } from './children.ts'
import { checkAttempts, checkLedger, readAll } from './kill-check.ts'

const ROUNDS = 20
const LEASE_MS = 300
/** A round that shows nothing by then is given up: it froze between two pieces of work. */
const WAIT_MS = 2_500
const STOP_MS = 20_000

let folder = ''
let children: Child[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-freeze-'))
  const path = join(folder, 'carillon.db')
  children = ['node-a', 'node-b'].map(
    node => new Child('freeze-child.ts', [path, node, String(LEASE_MS)]),
  )
  for (const child of children) await child.ready()
})

afterEach(async () => {
  for (const child of children) child.signal('SIGCONT')
  await Promise.all(children.map(child => child.kill()))
  await rm(folder, { recursive: true, force: true })
})

/** The next line of its kind that the child has not said yet. */
function next(child: Child, kind: string): Promise<string | null> {
  const said = child.lines.length
  return child.line(
    line => line.startsWith(`${kind} `) && child.lines.indexOf(line) >= said,
    WAIT_MS,
  )
}

/** Freezes one while it works until the other has taken its work over, then lets it go on. */
async function freezeRound(frozen: Child, other: Child): Promise<string | null> {
  if ((await next(frozen, 'begins')) === null) return null
  const taken = next(other, 'reaped')
  frozen.signal('SIGSTOP')
  const reaped = await taken
  const lost = next(frozen, 'lost')
  frozen.signal('SIGCONT')
  // One that was stopped inside a transaction kept the other from its work: nothing to see.
  return reaped === null ? null : lost
}

test('a process that was frozen past its lease changes nothing', { timeout: 120_000 }, async () => {
  const [a, b] = children as [Child, Child]
  let seen = 0
  for (let round = 0; round < ROUNDS; round++) {
    const [frozen, other] = round % 2 === 0 ? [a, b] : [b, a]
    if ((await freezeRound(frozen, other)) !== null) seen++
  }
  // A busy machine may freeze it between two pieces of work; a few rounds that count are enough.
  expect(seen).toBeGreaterThanOrEqual(ROUNDS / 5)
  for (const child of children) child.say('stop')
  for (const child of children) {
    expect([await child.line(line => line === 'stopped', STOP_MS), child.errors]).toEqual([
      'stopped',
      '',
    ])
  }

  const lines = children.flatMap(child => child.lines)
  const of = (kind: string) =>
    lines
      .filter(line => line.startsWith(`${kind} `))
      .map(line => line.split(' ').slice(1, 3).join(' '))
  const reaped = new Set(of('reaped'))
  const accepted = of('accepted')
  expect(reaped.size).toBeGreaterThan(0)
  // Each fence is settled once: by its holder or by whoever reaped it, never by both.
  expect(accepted.length).toBe(new Set(accepted).size)
  const wins = lines.filter(line => /^accepted .* succeeded$/.test(line))
  const stale = wins
    .map(line => line.split(' ').slice(1, 3).join(' '))
    .filter(key => reaped.has(key))
  expect(stale).toEqual([])

  const store = new SqliteStore({ path: join(folder, 'carillon.db'), clock: () => 0 })
  await store.open()
  for (const job of await readAll(page => store.list({}, page))) {
    const attempts = await readAll(page => store.attempts({ jobId: job.id }, page))
    expect(checkAttempts(job, attempts)).toEqual([])
    const entries = await readAll(page => store.ledger(job.id, page))
    expect(checkLedger(job, entries, [])).toEqual([])
  }
  await store.close()
})
