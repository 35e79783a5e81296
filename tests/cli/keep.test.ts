// Keeping a store: looked over and repaired, backed up, pruned, taken up and down, measured.

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { ensureBuilt, hasTerminal, Place } from './program.ts'

let place: Place
const run = (words: readonly string[]) => place.run(words)

beforeAll(async () => {
  ensureBuilt()
  place = new Place()
  const add = ['add', 'hello', '--every', '1h', '--handler', 'greet']
  const { code, err } = await run(add)
  if (code !== 0) throw new Error(err)
})
afterAll(() => place.close())

const path = () => join(place.folder, '.carillon/carillon.db')

function raw(sql: string): unknown {
  const db = openDatabase(path())
  try {
    return db.prepare(sql).get()?.[0] ?? null
  } finally {
    db.close()
  }
}

describe('doctor', () => {
  it('finds, shows what it would do, asks, and repairs', async () => {
    raw('update job_states set due_at = null, ready = null')
    raw('update job_counts set count = count + 2')
    const seen = await run(['doctor'])
    expect(seen.code).toBe(1)
    expect(seen.out).toContain('job hello')
    expect(seen.out).toContain('is active, but waits for no moment')
    expect(seen.out).toContain('3 waiting jobs of tenant default are counted where 1 are')
    expect(seen.err).toContain('2 errors, 1 warning; carillon doctor --repair puts 2 right')
    const dry = await run(['doctor', '--repair', '--dry-run'])
    expect(dry).toMatchObject({
      code: 1,
      out: expect.stringContaining('→ computes its next moment'),
    })
    expect(await run(['doctor', '--repair', '--no-input'])).toMatchObject({ code: 2 })
    expect(raw('select due_at from job_states')).toBeNull()
    const done = await run(['doctor', '--repair', '--yes', '--json'])
    expect(done.code).toBe(0)
    const report = JSON.parse(done.out) as Record<'findings' | 'repaired', { code: string }[]>
    expect(report.repaired.map(({ code }) => code)).toEqual(['count', 'no-moment'])
    expect(report.findings.map(({ code }) => code)).toEqual(['no-node'])
    expect(raw('select due_at from job_states')).toBeGreaterThan(0)
  })

  it.runIf(hasTerminal)('takes no for an answer', async () => {
    raw('update job_counts set count = count + 2')
    const terminal = place.terminal(['doctor', '--repair'])
    await terminal.sees('Repair 1? [y/N]')
    terminal.type('n\r')
    expect(await terminal.ends()).toBe(1)
    expect(raw('select sum(count) from job_counts')).toBe(3)
    raw('update job_counts set count = count - 2')
  })

  it('asks a service what it thinks of itself; its store is backed up as it goes', async () => {
    const other = new Place()
    try {
      const [, url] = await other.start(['dev', '--port', '0'], /Dashboard +(http:\S+?)\/\n/)
      const ran = await other.run(['doctor', '--server', url!, '--json'])
      expect(ran.code).toBe(0)
      expect(JSON.parse(ran.out)).toMatchObject({ server: url, findings: [] })
      expect(await other.run(['doctor', '--server', url!, '--repair'])).toMatchObject({ code: 2 })
      const down = await other.run(['migrate', 'down', '--yes'])
      expect(down).toMatchObject({ code: 5, err: expect.stringContaining('is in use') })
      const backup = await other.run(['backup', 'live.db'])
      expect(backup).toMatchObject({ code: 0, err: expect.stringContaining('intact') })
    } finally {
      await other.close()
    }
  })
})

describe('a whole store', () => {
  it('is backed up into a file that is not there yet', async () => {
    const first = await run(['backup', 'b.db'])
    expect(first).toMatchObject({ code: 0, err: expect.stringContaining('equal to the store') })
    expect(await run(['backup', 'b.db'])).toMatchObject({ code: 2 })
    expect(readdirSync(place.folder).filter(name => name.includes('partial'))).toEqual([])
  })

  it('is pruned by age, counted first', async () => {
    const once = ['add', 'once', '--at', '2020-01-01T00:00:00Z', '--handler', 'greet']
    expect(await run(once)).toMatchObject({ code: 0 })
    expect(await run(['cancel', 'once', '--job', '--yes'])).toMatchObject({ code: 0 })
    const dry = await run(['prune', '--older-than', '1ms', '--dry-run'])
    expect(dry.out).toContain('1 ended jobs')
    expect(await run(['prune', '--older-than', '1ms'])).toMatchObject({ code: 2 })
    const done = await run(['prune', '--older-than', '1ms', '--yes', '--json'])
    expect(JSON.parse(done.out)).toMatchObject({ jobs: 1 })
    expect(raw('select count(*) from jobs')).toBe(1)
  })

  it('of an earlier layout goes up with its jobs', async () => {
    const file = join(place.folder, 'earlier.db')
    const db = openDatabase(file)
    db.exec(readFileSync(join(import.meta.dirname, '../support/earlier/sqlite-4.sql'), 'utf8'))
    db.close()
    copyFileSync(file, join(place.folder, 'before.db'))
    const at = ['--store', 'sqlite:earlier.db']
    expect(await run(['migrate', 'status', ...at])).toMatchObject({ code: 1 })
    // H3: whoever looks or writes is told what to do, and nothing is migrated by it.
    for (const words of [['list'], ['show', 'daily'], ['pause', 'daily', '--yes']]) {
      const refused = await run([...words, ...at])
      expect(refused).toMatchObject({ out: '', err: expect.stringContaining('schema version 4') })
      expect(refused.code).not.toBe(0)
      expect(refused.err).toContain('run "carillon migrate up" once')
    }
    expect(await run(['migrate', 'up', ...at])).toMatchObject({ code: 0 })
    const checked = await run(['migrate', 'check', 'before.db', '--json', ...at])
    expect(checked.code).toBe(0)
    expect(JSON.parse(checked.out)).toMatchObject({
      is_equal: true,
      jobs: { before: 19, after: 19, same: 19, differing: 0 },
    })
    expect(await run(['migrate', 'check', 'nowhere.db'])).toMatchObject({ code: 6 })
    expect(await run(['migrate', 'down'])).toMatchObject({ code: 2 })
    expect(await run(['migrate', 'down', '--yes'])).toMatchObject({ code: 2 })
    rmSync(join(place.folder, 'before.db'))
  })

  it('H3 that was taken down to nothing is not made again by looking at it', async () => {
    copyFileSync(path(), join(place.folder, 'gone.db'))
    const at = ['--store', 'sqlite:gone.db']
    expect(await run(['migrate', 'down', '--to', '0', '--yes', ...at])).toMatchObject({ code: 0 })
    for (const words of [['list'], ['show', 'hello'], ['pause', 'hello', '--yes']]) {
      const refused = await run([...words, ...at])
      const err = expect.stringContaining('there is no store at gone.db yet') as string
      expect(refused).toMatchObject({ code: 6, out: '', err })
    }
    const db = openDatabase(join(place.folder, 'gone.db'))
    const tables = "select count(*) from sqlite_schema where name not like 'sqlite_%'"
    expect(db.prepare(tables).get()).toEqual([0])
    db.close()
    const added = await run(['add', 'fresh', '--every', '1h', '--handler', 'greet', ...at])
    expect(added).toMatchObject({ code: 0 })
    expect(await run(['list', ...at])).toMatchObject({ code: 0 })
    rmSync(join(place.folder, 'gone.db'))
  })

  it('H3 B21 is compared with a backup: what a migration lost or moved is told', async () => {
    const hourly = ['add', 'hourly', '--every', '1h', '--handler', 'greet']
    expect(await run(hourly)).toMatchObject({ code: 0 })
    expect(await run(['backup', 'before.db'])).toMatchObject({ code: 0 })
    expect(await run(['edit', 'hourly', '--every', '2h', '--yes'])).toMatchObject({ code: 0 })
    const moved = await run(['migrate', 'check', 'before.db'])
    expect(moved).toMatchObject({ code: 1, out: expect.stringContaining('next_run_at') })
    expect(await run(['rm', 'hourly', '--yes'])).toMatchObject({ code: 0 })
    const lost = await run(['migrate', 'check', 'before.db', '--json'])
    expect(lost.code).toBe(1)
    expect(JSON.parse(lost.out)).toMatchObject({
      is_equal: false,
      differences: [{ field: 'job', before: 'hourly', after: null }],
    })
  })

  it('is measured beside itself, and nothing is left of that', async () => {
    const ran = await run(['bench', '--jobs', '200', '--json'])
    expect(ran.code).toBe(0)
    const report = JSON.parse(ran.out) as Record<string, number>
    expect(report).toMatchObject({ jobs: 200, at_once: 1_000, lost: 0, doubled: 0 })
    expect(report['runs_per_second']).toBeGreaterThan(0)
    expect(readdirSync(join(place.folder, '.carillon')).join()).not.toContain('bench')
    expect(raw('select count(*) from jobs')).toBe(1)
  })

  it.each([
    [['doctor', '--store', 'sqlite:nowhere.db'], 6],
    [['backup', 'x.db', '--server', 'http://127.0.0.1:9'], 2],
    [['prune', '--older-than', 'old'], 2],
    [['migrate', 'sideways'], 2],
    [['migrate', 'sql'], 2],
    [['migrate', 'down', '--to', '99', '--yes'], 2],
    [['bench', '--jobs', '1'], 2],
  ])('%j ends with %i', async (words, code) => {
    expect(await run(words)).toMatchObject({ code, out: '' })
    expect(existsSync(join(place.folder, 'nowhere.db'))).toBe(false)
  })
})
