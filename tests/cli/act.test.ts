// Acting, on a service and on the store behind it: what is done, what is only shown, what is refused.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inOwnForm } from '../../src/cli/own-form.ts'
import { createClient, type Client, type JobBody } from '../../src/client/index.ts'
import { ensureBuilt, Place, type Ran, type RunOptions } from './program.ts'

let place: Place
let client: Client
let url: string

beforeAll(async () => {
  ensureBuilt()
  place = new Place()
  url = (await place.start(['dev', '--port', '0'], /Dashboard +(http:\S+?)\/\n/))[1]!
  client = createClient({ url })
})
afterAll(() => place.close())

const remote = (words: readonly string[], more: RunOptions = {}): Promise<Ran> =>
  place.run(words, { ...more, env: { CARILLON_SERVER: url } })
const local = (words: readonly string[], more: RunOptions = {}): Promise<Ran> =>
  place.run(words, more)

let made = 0
async function newJob(body: JobBody = {}): Promise<{ id: string; name: string }> {
  const name = `job-${++made}`
  const { id } = await client.jobs.create({
    name,
    trigger: { every: '1h' },
    handler: 'greet',
    ...body,
  })
  return { id, name }
}

describe.each([
  ['remote', remote],
  ['local', local],
] as const)('on a %s target', (kind, run) => {
  it('a job is made, changed, paused, resumed, run and removed', async () => {
    const name = `life.${kind}`
    const added = await run([
      'add',
      name,
      '--every',
      '30m',
      '--handler',
      'greet',
      '--tag',
      'x',
      '--tag',
      'y',
    ])
    expect(added.code).toBe(0)
    expect(added.err).toContain(`made ${name}: every 30m, `)
    const id = added.out.trim()
    expect(await client.jobs.get(id)).toMatchObject({ name, tags: ['x', 'y'], revision: 1 })

    const edited = await run([
      'edit',
      name,
      '--cron',
      '0 8 * * *',
      '--tz',
      'Asia/Tokyo',
      '--retries',
      '5',
    ])
    expect({ code: edited.code, out: edited.out }).toEqual({ code: 0, out: '' })
    expect(await client.jobs.get(id)).toMatchObject({
      trigger: { cron: '0 8 * * *', timezone: 'Asia/Tokyo' },
      max_retries: 5,
    })

    const paused = await run(['pause', name, '--until', '2h', '--note', 'upgrade', '--json'])
    expect(JSON.parse(paused.out)).toEqual(inOwnForm(await client.jobs.get(id)))
    expect(await client.jobs.get(id)).toMatchObject({ status: 'paused', pause_note: 'upgrade' })
    expect((await run(['resume', id])).err).toContain(`resumed ${name}: `)

    const ran = await run(['run', name, 'who=world', 'n=3', '--wait', '--timeout', '60s'])
    expect(ran.code).toBe(0)
    expect(ran.err).toMatch(/run \S+ completed in /)
    expect(JSON.parse(ran.out)).toEqual({ greeted: { who: 'world', n: 3 } })

    const removed = await run(['rm', name, '--yes'])
    expect({ code: removed.code, err: removed.err }).toEqual({ code: 0, err: `removed ${name}\n` })
    await expect(client.jobs.get(id)).rejects.toMatchObject({ status: 404 })
    const { entries } = await client.audit({ tenant: 'default', job: id })
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(
      new Set([kind === 'remote' ? 'dev' : entries[0]!.actor]),
    )
    if (kind === 'local') expect(entries[0]!.actor).toMatch(/^local/)
  })
})

describe('a dry run', () => {
  it.each([
    ['pause', ['--until', '2h']],
    ['cancel', ['--job']],
    ['rm', []],
    ['run', ['a=1']],
    ['backfill', ['--from', '2026-01-01', '--to', '2026-01-02']],
    ['edit', ['--every', '5m']],
  ])('of %s changes nothing', async (verb, more) => {
    const { id, name } = await newJob({ trigger: { cron: '0 * * * *' } })
    const before = await client.jobs.get(id)
    const { code, out } = await remote([verb, name, ...more, '--dry-run'])
    expect(code).toBe(0)
    expect(out).toMatch(/^would /)
    expect(await client.jobs.get(id)).toEqual(before)
  })

  it('of add refuses what would be refused', async () => {
    const words = ['add', 'new.one', '--cron', '0 61 * * *', '--handler', 'greet', '--dry-run']
    const { code, err } = await remote(words)
    expect(code).toBe(2)
    expect(err).toContain('trigger.cron')
    expect(
      (await remote(['add', 'new.one', '--every', '5m', '--handler', 'greet', '-n'])).out,
    ).toBe('would make new.one\n')
    expect((await client.search({ q: 'new.one' })).jobs).toEqual([])
  })

  it('refuses a wrong state', async () => {
    const { name } = await newJob()
    const { code, err } = await remote(['resume', name, '-n'])
    expect({ code, err }).toEqual({
      code: 5,
      err: `carillon: cannot resume ${name}: it is scheduled\n`,
    })
  })
})

describe('what is refused', () => {
  it('a wrong state is 5 and changes nothing', async () => {
    const { id, name } = await newJob()
    const before = await client.jobs.get(id)
    for (const words of [
      ['resume', name],
      ['retry', name],
      ['cancel', name],
    ]) {
      const { code, out, err } = await remote(words)
      expect({ code, out }).toEqual({ code: 5, out: '' })
      expect(err).toContain('scheduled')
    }
    expect(await client.jobs.get(id)).toEqual(before)
  })

  it('what cannot be taken back needs --yes when nobody is there to ask', async () => {
    const { id, name } = await newJob({ trigger: { cron: '0 * * * *' } })
    for (const words of [
      ['rm', name],
      ['cancel', '--job', name],
      ['backfill', name, '--from', '2026-01-01', '--to', '2026-01-02'],
    ]) {
      const { code, err } = await remote(words)
      expect(code).toBe(2)
      expect(err).toContain('--yes')
    }
    expect(await client.jobs.get(id)).toMatchObject({ status: 'scheduled', run_count: 0 })
  })

  it('every problem is told, and as JSON for programs', async () => {
    const words = ['add', 'x', '--every', '0s', '--handler', 'greet', '--queue', '']
    const { code, err } = await remote(words)
    expect(code).toBe(2)
    expect(err).toContain('  trigger.every must be a duration')
    expect(err).toContain('  queue must not be empty')
    const asJson = JSON.parse((await remote([...words, '--json'])).err) as {
      error: { errors: object[] }
    }
    expect(asJson.error.errors).toHaveLength(2)
  })

  it.each([
    [
      ['add', 'x', '--every', '5m', '--cron', '* * * * *'],
      '--cron and --every contradict each other',
    ],
    [['add', 'x', '--tz', 'UTC', '--handler', 'greet'], '--tz needs --cron'],
    [['add', 'x', '--priority', '9'], 'must be a whole number from 1 to 6'],
    [['add', 'x', '-f', 'nowhere.json'], 'nowhere.json cannot be read'],
    [['edit', 'job-1'], 'nothing to change was said'],
    [['run', 'job-1', 'oops'], 'oops is not a pair'],
    [['run', 'job-1', '--input', '{'], '--input is not JSON'],
    [['pause', 'job-1', '--until', '2020-01-01'], '--until has passed already'],
    [['backfill', 'job-1'], '--from is needed'],
  ])('%j', async (words, message) => {
    const { code, out, err } = await remote(words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })
})

describe('runs', () => {
  it('a failing one is waited for, shown and tried again', async () => {
    const { id, name } = await newJob({ handler: 'broken', max_retries: 0 })
    const ran = await remote(['run', name, '--wait', '--json'])
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.out)).toMatchObject({ status: 'failed', error_message: 'no such table' })
    const again = await remote(['retry', `${id}.1`, '--json'])
    expect(JSON.parse(again.out)).toMatchObject({ run_id: `${id}.2`, retry_of: `${id}.1` })
    await client.runs.wait(`${id}.2`)
    const failed = await remote([
      'runs',
      name,
      '--status',
      'failed',
      '--plain',
      '--columns',
      'id,error',
    ])
    expect(failed.out).toBe(`${id}.2\tno such table\n${id}.1\tno such table\n`)
  })

  it('one under way is followed, paused behind, and cancelled', async () => {
    const { id, name } = await newJob({ handler: 'slow', max_retries: 0 })
    const { run_id } = await client.jobs.run(id)
    const logs = remote(['logs', '-f', run_id])
    const lines = client.runs.lines(run_id, { follow: true })
    await lines.next()
    const paused = await remote(['pause', name])
    expect(paused.err).toBe(`${name} is running: paused when its run ends\n`)
    const waited = await remote(['run', name, '--wait', '--timeout', '2s'])
    expect({ code: waited.code, out: waited.out }).toEqual({ code: 7, out: '' })
    const cancelled = await remote(['cancel', run_id, '--reason', 'enough'])
    expect(cancelled.err).toBe(`cancelled run ${run_id} of ${name}\n`)
    expect((await logs).out).toMatch(/warn {2}slowly\n$/)
    expect(await client.runs.get(run_id)).toMatchObject({ status: 'cancelled' })
    expect((await remote(['cancel', run_id])).code).toBe(5)
  })

  it('past firings are counted and run', async () => {
    const { id, name } = await newJob({ trigger: { cron: '0 0 * * *' } })
    const words = [
      'backfill',
      name,
      '--from',
      '2026-01-01T00:00:00Z',
      '--to',
      '2026-01-03T12:00:00Z',
    ]
    const { code, out } = await remote([...words, '--yes', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ job_id: id, run_id: `${id}.1`, count: 3 })
    const bad = await remote([
      'backfill',
      name,
      '--from',
      '2026-01-01',
      '--to',
      '2099-01-01',
      '--yes',
    ])
    expect(bad.code).toBe(2)
    expect(bad.err).toContain('must not lie in the future')
  })
})

it('several are acted on one by one, and the code says when only some worked', async () => {
  const [a, b] = [await newJob(), await newJob()]
  expect((await remote(['pause', a.name])).code).toBe(0)
  const { code, err } = await remote(['pause', a.name, b.name])
  expect(code).toBe(8)
  expect(err).toContain(`paused ${b.name}\n`)
  const both = await remote(['resume', a.name, b.name, '--json'])
  expect((JSON.parse(both.out) as { name: string }[]).map(({ name }) => name)).toEqual([
    a.name,
    b.name,
  ])
})

it('jobs of the same name are told apart by their ids', async () => {
  const { name } = await newJob()
  await client.jobs.create({ name, trigger: { every: '1h' }, handler: 'greet' })
  const { code, err } = await remote(['pause', name])
  expect(code).toBe(2)
  expect(err).toContain(`2 jobs are called ${name}`)
})

it('bodies and payloads come from files and the standard input', async () => {
  const file = join(place.folder, 'job.json')
  writeFileSync(
    file,
    JSON.stringify({ trigger: { manual: true }, handler: 'greet', payload: { from: 'file' } }),
  )
  const added = await remote(['add', 'filed', '-f', file, '--json'])
  expect(JSON.parse(added.out)).toMatchObject({ name: 'filed', payload: { from: 'file' } })
  const ran = await remote(['run', 'filed', '--input', '-', '--wait'], {
    input: '{"from":"stdin"}',
  })
  expect(JSON.parse(ran.out)).toEqual({ greeted: { from: 'stdin' } })
})
