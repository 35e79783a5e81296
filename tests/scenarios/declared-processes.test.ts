// E: two real processes with the same declarations on one SQLite file do each run once.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { Child } from '../end-to-end/children.ts'
import { eventually } from '../support/servers/wait.ts'

const TASKS = 40
/** Both are up by then; the next minute of their clocks begins. */
const HEAD_START_MS = 6_000

const ranBy = (child: Child): string[] => child.lines.filter(line => line.startsWith('ran '))

test('two processes sharing one SQLite file run every occurrence once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-tasks-'))
  const now = Date.now()
  const stepMs = MINUTE - ((now + HEAD_START_MS) % MINUTE)
  const args = [`sqlite:${join(folder, 'tasks.db')}`, String(TASKS), String(stepMs)]
  const children = [1, 2].map(() => new Child('../scenarios/declared-child.ts', args))
  onTestFinished(async () => {
    await Promise.all(children.map(child => child.kill()))
    await rm(folder, { recursive: true, force: true })
  })
  for (const child of children) child.say('start')
  await Promise.all(children.map(child => child.ready()))
  // The minute they start in matches, and so does the next one.
  const enough = () => (children.flatMap(ranBy).length >= 2 * TASKS ? true : null)
  await eventually('two runs of every task', enough, 75_000)
  for (const child of children) child.say('stop')
  for (const child of children) {
    expect(await child.line(line => line === 'stopped', 10_000)).toBe('stopped')
    await child.gone()
    expect(child.errors).toBe('')
  }
  const runs = children.flatMap(ranBy)
  expect(new Set(runs).size).toBe(runs.length)
  expect(runs.length % TASKS).toBe(0)
}, 120_000)
