// G1: a handler that kills its process costs a few processes, and none of its neighbours.

import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/compose.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { freshStore, startProgram, type Program } from './harness/index.ts'

const node = `
import { createScheduler, every, job } from 'carillon'
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
const say = message => console.log(JSON.stringify(message))
const long = job('long', { run: async payload => {
  await sleep(1_200)
  say({ done: payload.n })
} })
const steady = job('steady', { schedule: every(500), run: async () => { await sleep(1_200) } })
const poison = job('poison', { run: async () => {
  say({ poison: true })
  await sleep(400)
  process.kill(process.pid, 'SIGKILL')
} })
const s = await createScheduler({ jobs: [long, steady, poison], store: process.env.STORE,
  lockDurationMs: 1_500, staleLockCheckMs: 200, checkIntervalMs: 200, print: () => {} }).start()
if (process.env.FIRST) {
  for (let n = 0; n < 4; n++) await s.trigger('long', { n })
  await s.trigger('poison')
}
process.on('SIGTERM', () => s.stop(100).then(() => process.exit(0)))`

const BYSTANDERS = 4
const LIVES_MAX = 12

interface Story {
  readonly done: ReadonlySet<number>
  readonly deaths: number
}

/** Started again whenever it dies, until every bystander is done or nothing happens any more. */
async function supervise(store: string): Promise<Story> {
  const done = new Set<number>()
  let deaths = 0
  for (let life = 0; life < LIVES_MAX && done.size < BYSTANDERS; life++) {
    const env = { STORE: store, ...(life === 0 ? { FIRST: '1' } : {}) }
    const program: Program = startProgram(node, { env })
    const isOver = await endOf(program, done)
    if (!isOver) deaths++
    await program.kill('SIGTERM')
    if (isOver && done.size < BYSTANDERS) break
  }
  return { done, deaths }
}

/** False when the process died; true when all are done or 25 s have passed. */
async function endOf(program: Program, done: Set<number>): Promise<boolean> {
  let isDead = false
  void program.exited.then(() => (isDead = true))
  const until = systemClock.now() + 25_000
  while (!isDead && done.size < BYSTANDERS && systemClock.now() < until) {
    await new Promise(resolve => systemClock.after(100, () => resolve(null)))
    for (const message of program.messages()) {
      if (typeof message['done'] === 'number') done.add(message['done'])
    }
  }
  return !isDead
}

test('G1 the neighbours of a job that kills its process finish, and it is held back', async () => {
  const url = await freshStore('sqlite')
  const { done, deaths } = await supervise(url)
  expect(done).toEqual(new Set([0, 1, 2, 3]))
  expect(deaths).toBeLessThanOrEqual(5)
  const store = await openStore(url, { now: () => systemClock.now(), listens: false })
  onTestFinished(() => store.close())
  const { items: jobs } = await store.list({}, { limit: 50 })
  const ended = jobs.filter(({ state }) => state === 'failed').map(({ spec }) => spec.handler)
  expect(ended).toEqual([])
  const poisons = jobs.filter(({ spec }) => spec.handler === 'poison')
  expect(Math.max(...poisons.map(({ crashes }) => crashes))).toBeGreaterThanOrEqual(2)
})

test('G1 a process whose owner is alive keeps its job through a lease shorter than a check', async () => {
  const url = await freshStore('sqlite')
  const program = startProgram(
    `
import { createScheduler, job } from 'carillon'
const slow = job('slow', { run: () => new Promise(resolve => setTimeout(resolve, 2_500, 'ok')) })
const s = await createScheduler({ jobs: [slow], store: process.env.STORE, lockDurationMs: 600,
  staleLockCheckMs: 100, print: () => {} }).start()
const run = await s.trigger('slow')
console.log(JSON.stringify({ result: await run.result() }))
await s.stop()`,
    { env: { STORE: url } },
  )
  await program.exited
  expect(program.messages()).toContainEqual({ result: 'ok' })
  const store = await openStore(url, { now: () => systemClock.now(), listens: false })
  onTestFinished(() => store.close())
  const { items } = await store.attempts({}, { limit: 10 })
  expect(items.map(({ outcome, attempt }) => ({ outcome, attempt }))).toEqual([
    { outcome: 'succeeded', attempt: 1 },
  ])
})
