// G4: the machine's clock is set back under the packed package, while it runs and while it is stopped.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findFaketime } from '../support/servers/binaries.ts'
import { eventually, freshStore, startProgram, workFolder, type Program } from './harness/index.ts'

const library = findFaketime()

/** A clock of its own for one program: `set` steps it, also while the program runs. */
function fakeClock(offset: string) {
  const file = join(workFolder(), 'clock')
  const set = (to: string) => writeFileSync(file, to)
  set(offset)
  const env = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  return { set, env }
}

/** Four kinds of schedules; each run prints its name and the time it sees. */
const program = (store: string) => `
  import { createScheduler, cron, every, job } from 'carillon'
  const run = name => () => console.log(JSON.stringify({ ran: name, at: Date.now() }))
  const scheduler = createScheduler({
    store: ${JSON.stringify(store)},
    jobs: [
      job('second', { schedule: every('1s'), run: run('second') }),
      job('finish', { schedule: every('2s', { from: 'finish' }), run: run('finish') }),
      // Not due while the test lasts: what is left of its interval moves with the clock.
      job('hourly', { schedule: every('1h'), run: run('hourly') }),
      job('cron', { schedule: cron('*/2 * * * * *', { tz: 'UTC' }), run: run('cron') }),
    ],
    logger: 'warn',
    shutdown: { signals: true },
  })
  await scheduler.start()
  console.log(JSON.stringify({ started: Date.now() }))`

const names = ['second', 'finish', 'cron']
const ranOf = (of: Program, from = 0) =>
  new Set(
    of
      .messages()
      .slice(from)
      .flatMap(({ ran }) => (typeof ran === 'string' ? [ran] : [])),
  )
const allRan = (of: Program, from = 0) =>
  eventually(
    'every schedule ran',
    () => (ranOf(of, from).size === names.length ? true : null),
    45_000,
  )

it.skipIf(library === null).each(['+3h', '+90s', '+4y'])(
  'G4 a running scheduler whose clock was %s ahead goes on when it is set right',
  async offset => {
    const clock = fakeClock(offset)
    const child = startProgram(program(await freshStore('sqlite')), { env: clock.env })
    await allRan(child)
    const before = child.messages().length
    clock.set('+0')
    await allRan(child, before)
    expect(child.stderr + child.stdout).toMatch(/clock was set back/)
  },
)

it.skipIf(library === null).each([
  ['a clean stop', 'SIGTERM'],
  ['a kill', 'SIGKILL'],
] as const)('G4 after %s three hours ahead, the next start goes on', async (_, signal) => {
  const store = await freshStore('sqlite')
  const ahead = startProgram(program(store), { env: fakeClock('+3h').env })
  await allRan(ahead)
  await ahead.kill(signal)
  const right = startProgram(program(store))
  await allRan(right)
  expect(right.stderr + right.stdout).toMatch(/clock was set back/)
})
