import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createScheduler, cron, every, job, type AnyJob } from '../../src/index.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { damage, damageKinds } from '../support/damage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-declare-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const nothing = { run: () => undefined }

/** Starts and stops once; what was printed and what is stored afterwards. */
async function start(jobs: readonly AnyJob[], more: { app?: string; generation?: string } = {}) {
  const lines: string[] = []
  const scheduler = createScheduler({
    jobs,
    store: `sqlite:${join(folder, 'jobs.db')}`,
    print: line => lines.push(line),
    ...more,
  })
  await scheduler.start()
  const stored: Record<string, string> = {}
  for await (const row of scheduler.jobs.list()) {
    stored[`${row.declared?.app}/${row.spec.name}`] = row.ended?.reason ?? row.state
  }
  await scheduler.stop()
  return { lines, stored }
}

const report = (expression: string) =>
  job('report', { schedule: cron(expression, { tz: 'UTC' }), ...nothing })
const sweep = job('sweep', { schedule: every('30s'), ...nothing })

test('the difference is printed, and nothing when nothing changed', async () => {
  expect((await start([report('0 7 * * *')], { generation: '1' })).lines).toEqual([
    'carillon: 1 declared, 1 added  (generation 1)',
    '  + report           0 7 * * * UTC',
  ])
  expect((await start([report('0  7 * *  *')], { generation: '1' })).lines).toEqual([])
  expect((await start([report('0 7 * * 1-5'), sweep], { generation: '2' })).lines).toEqual([
    'carillon: 2 declared, 1 added, 1 changed  (generation 2)',
    '  ~ report           trigger  0 7 * * * UTC  →  0 7 * * 1-5 UTC',
    '  + sweep            every 30s',
  ])
})

test('a job that is no longer declared is left alone at the start', async () => {
  await start([report('0 7 * * *'), sweep])
  const gone = await start([sweep])
  expect(gone.stored).toEqual({ 'default/report': 'waiting', 'default/sweep': 'waiting' })
  expect(gone.lines[1]).toBe(
    '  ? report           declared by no running node: dropped after orphanGraceMs unless one does',
  )
  const back = await start([report('0 7 * * *'), sweep])
  expect(back.stored).toEqual({ 'default/report': 'waiting', 'default/sweep': 'waiting' })
})

test('reconcile touches only its own label', async () => {
  await start([report('0 7 * * *')], { app: 'one' })
  const { stored } = await start([sweep], { app: 'two' })
  expect(stored).toEqual({ 'one/report': 'waiting', 'two/sweep': 'waiting' })
})

test('an older generation never wins', async () => {
  await start([report('0 9 * * *'), sweep], { generation: '2026-11-15' })
  const old = await start([report('0 7 * * *')], { generation: '2026-11-9' })
  expect(old.stored).toEqual({ 'default/report': 'waiting', 'default/sweep': 'waiting' })
  expect(old.lines[1]).toBe('  ! report           declared by a newer generation: left alone')
})

test.each(damageKinds.map(kind => [kind]))(
  'G3 a declared job that is damaged stops no start: %s',
  async kind => {
    await start([report('0 7 * * *'), sweep])
    const url = `sqlite:${join(folder, 'jobs.db')}`
    await damage(url, 'default:default:report:main', kind)
    const { stored } = await start([report('0 7 * * *'), sweep])
    expect(stored['default/sweep']).toBe('waiting')
    expect(stored['default/report']).toMatch(/^(?:waiting|damaged|invalid)$/)
  },
)

test('G3 a declared job that is listed under no label stops no start', async () => {
  await start([report('0 7 * * *'), sweep])
  const db = openDatabase(join(folder, 'jobs.db'))
  db.exec("update jobs set app = null where name = 'report'")
  db.close()
  const { stored } = await start([report('0 7 * * *'), sweep])
  expect(stored).toMatchObject({ 'default/report': 'waiting', 'default/sweep': 'waiting' })
})
