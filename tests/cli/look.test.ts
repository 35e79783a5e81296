// Looking, on a service and on the store behind it: the same answers, equal to those of the HTTP API.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inOwnForm } from '../../src/cli/own-form.ts'
import { createClient, type Client, type Job } from '../../src/client/index.ts'
import { ensureBuilt, Place, type Ran } from './program.ts'

let place: Place
let client: Client
let job: Job
let remote: (...words: string[]) => Promise<Ran>
let local: (...words: string[]) => Promise<Ran>

beforeAll(async () => {
  ensureBuilt()
  place = new Place()
  const [, url] = await place.start(['dev', '--port', '0'], /Dashboard +(http:\S+?)\/\n/)
  client = createClient({ url: url! })
  remote = (...words) => place.run(words, { env: { CARILLON_SERVER: url! } })
  local = (...words) => place.run(words)
  job = await client.jobs.create({
    name: 'email.digest',
    trigger: { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
    handler: 'greet',
    tags: ['mail'],
  })
  await client.jobs.create({
    name: 'crawl.news',
    trigger: { every: '30m' },
    handler: 'broken',
    max_retries: 0,
  })
  const { run_id } = await client.jobs.run(job.id, { payload: { n: 1 } })
  await client.runs.wait(run_id)
})
afterAll(() => place.close())

describe.each(['remote', 'local'] as const)('on a %s target', kind => {
  const run = (...words: string[]) => (kind === 'remote' ? remote(...words) : local(...words))

  it('list shows jobs on the standard output and talks on the other', async () => {
    const { code, out, err } = await run('list')
    expect(code).toBe(0)
    expect(out).toMatch(/^\s+NAME +SCHEDULE +NEXT +LAST\n/)
    expect(out).toMatch(
      /✓ {2}email\.digest +0 7 \* \* 1-5 {2}Europe\/Berlin +\w{3} .* E[SD]T +in .*✓ \d+s/,
    )
    expect(err).toContain('2 jobs\n')
  })

  it('--json is what the HTTP API answers', async () => {
    const asked = await Promise.all([
      run('list', '--json', '--limit', '10'),
      run('show', 'email.digest', '--json'),
      run('runs', 'email.digest', '--json'),
      run('next', 'email.digest', '--json', '-n', '3'),
    ])
    expect(asked.map(({ code, err }) => [code, err])).toEqual(asked.map(() => [0, '']))
    expect(asked.map(({ out }) => JSON.parse(out) as unknown)).toEqual([
      inOwnForm(await client.jobs.list({ limit: 10 })),
      inOwnForm(await client.jobs.get(job.id)),
      await client.runs.list({ job: job.id }),
      await client.jobs.upcoming(job.id, 3),
    ])
  })

  it('says what an unknown name may have meant', async () => {
    const { code, out, err } = await run('show', 'email.digets')
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toBe('carillon: there is no job email.digets\n  did you mean email.digest?\n')
  })
})

describe('a list', () => {
  it('is filtered, sorted and shown in chosen columns', async () => {
    const { out } = await remote(
      'list',
      'status:scheduled',
      '--sort',
      'name',
      '--plain',
      '--columns',
      'name,queue,tags',
    )
    expect(out).toBe('crawl.news\tdefault\t[]\nemail.digest\tdefault\t["mail"]\n')
    expect((await remote('list', 'digest', 'tag:mail', '--plain', '--columns', 'id')).out).toBe(
      `${job.id}\n`,
    )
    const past = await remote('list', 'digest', '--plain', '--columns', 'last30,p95')
    expect(past.out).toMatch(/^\S*\t(?:-|\d+ms)\n$/)
  })

  it.each([
    [['list', 'stats:paused'], 'did you mean status?'],
    [['list', '--columns', 'nam'], 'did you mean name?'],
    [['list', '--status', 'sleeping'], 'must be a comma list'],
    [['list', '--tz', 'Mars/Olympus'], 'Mars/Olympus is not a time zone'],
    [['list', '--limt', '3'], "unknown option '--limt'\n(Did you mean --limit?)"],
    [['lst'], '(Did you mean one of list, ls?)'],
    [['show'], "missing required argument 'job'"],
    [['events', '--topics', 'rnu'], 'did you mean run?'],
  ])('refuses %j', async (words, message) => {
    const { code, out, err } = await remote(...words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })
})

describe('one job', () => {
  it('is found by its id and by the beginning of it', async () => {
    const begun = job.id.slice(0, 30)
    for (const typed of [job.id, begun]) {
      expect((await remote('show', typed)).out).toMatch(/^email\.digest {2}✓ scheduled\n/)
    }
  })

  it('N3 shows a run with the payload it got, also after an edit of the job', async () => {
    const manual = { trigger: { manual: true }, handler: 'greet', payload: { n: 1 } } as const
    const made = await client.jobs.create({ name: 'report', ...manual })
    const { run_id } = await client.jobs.run(made.id)
    await client.runs.wait(run_id)
    await client.jobs.edit(made.id, { payload: { n: 2 } })
    const { out } = await remote('show', run_id)
    expect(out).toMatch(/^report #1 {2}✓ completed\n/)
    expect(out).toContain('  payload     {"n":1}  (revision 1 of the job)\n')
    expect(JSON.parse((await local('show', run_id, '--json')).out)).toMatchObject({
      payload: { n: 1 },
      payload_revision: 1,
    })
    await client.jobs.edit(made.id, {
      retention: { attempts: 10, age_seconds: 60, payloads: false },
    })
    const gone = await remote('show', run_id)
    expect(gone.out).toContain('  payload     no longer kept (revision 1 of the job)\n')
    await client.jobs.remove(made.id)
    const given = await remote('show', `${job.id}.1`)
    expect(given.out).toContain('  payload     {"n":1}  (given to the run)\n')
  })

  it('tells why, what it ran and what it logged', async () => {
    const why = await remote('why', 'email.digest')
    expect(why.out).toMatch(/^Will run at .*\n {2}✓ schedule: 0 7 \* \* 1-5 Europe\/Berlin\n/)
    expect(JSON.parse((await remote('why', 'email.digest', '--json')).out)).toMatchObject({
      checks: expect.any(Array),
    })
    const runs = await remote('runs', 'job:email.digest')
    expect(runs.out).toMatch(new RegExp(`✓ completed +email\\.digest .* manual +${job.id}\\.1\\n`))
    const logs = await remote('logs', 'email.digest')
    expect(logs.out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} E[SD]T info {2}hello \{"n":1\}\n$/)
    expect((await remote('logs', 'crawl.news')).code).toBe(3)
    const shown = await remote('next', 'email.digest', '-n', '2', '--tz', 'utc')
    expect(shown.out.split('\n')).toHaveLength(5)
  })

  it('is told of as it happens', async () => {
    const told = remote(
      'events',
      '--job',
      'email.digest',
      '--json',
      '--max',
      '2',
      '--topics',
      'run,log',
    )
    // Asked for until the reader has heard: it may not be there yet.
    let isOver = false
    void told.then(() => (isOver = true))
    while (!isOver) await client.runs.wait((await client.jobs.run(job.id)).run_id)
    const { code, out } = await told
    const lines = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string })
    expect(code).toBe(0)
    expect(lines).toHaveLength(2)
    expect(lines[0]!.type).toMatch(/^run\./)
  })
})

it('tenants, system and what comes next are shown once', async () => {
  expect((await remote('tenants')).out).toMatch(/^TENANT +TOTAL .*\ndefault +2 /)
  const top = await remote('top')
  expect(top.out).toMatch(/nodes 1 {2}tick .* run 0\/100 {2}queued 0 {2}jobs 2 active/)
  expect(top.out).toMatch(/next +crawl\.news/)
  expect(JSON.parse((await remote('top', '--json')).out)).toMatchObject({
    runs: [],
    metrics: { jobs: { scheduled: 2 } },
  })
})
