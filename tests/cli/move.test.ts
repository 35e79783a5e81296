// Moving jobs in and out, on a service and on a store: what is taken over, compared, and refused.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/index.ts'
import { ensureBuilt, Place, type Ran, type RunOptions } from './program.ts'

let place: Place
let client: Client
let url: string
let token: string

beforeAll(async () => {
  ensureBuilt()
  place = new Place()
  const words = ['dev', '--port', '0', '--allow-commands']
  url = (await place.start(words, /Dashboard +(http:\S+?)\/\n/))[1]!
  const minted = await place.run(['token', '--role', 'admin', '--tenant', '*'])
  token = minted.out.trim()
  client = createClient({ url, token })
})
afterAll(() => place.close())

type Run = (words: readonly string[], more?: RunOptions) => Promise<Ran>
const remote: Run = (words, more = {}) =>
  place.run(words, { ...more, env: { CARILLON_SERVER: url, CARILLON_TOKEN: token } })
const local: Run = (words, more = {}) => place.run(words, more)

const file = (name: string, text: string): string => {
  const path = join(place.folder, name)
  writeFileSync(path, text)
  return path
}

const crontab = `# edited by hand
SHELL=/bin/bash
PATH=/usr/local/bin:/usr/bin:/bin
MAILTO=ops@example.com
*/10 * * * *  cd /srv/app && flock -n /tmp/poll.lock ./poll.sh >/dev/null 2>&1
CRON_TZ=Europe/Berlin
30 2 * * *    /usr/local/bin/backup.sh --full
0 7 * * mon-fri  mail -s report ops%Good morning,%the report is ready.
@weekly       /usr/bin/certbot renew
@reboot       /usr/local/bin/warm-up
0 0 31 2 *    /usr/local/bin/never
`

describe.each([
  ['remote', remote],
  ['local', local],
] as const)('on a %s target', (kind, run) => {
  it('a crontab is shown, imported, and left alone when imported again', async () => {
    const path = file(`tab-${kind}`, crontab)
    const dry = await run(['import', 'crontab', path, '--dry-run', '--tz', 'UTC'])
    expect(dry).toMatchObject({ code: 8 })
    expect(dry.err).toContain('4 to add, 4 need attention. Apply: drop --dry-run')
    expect(await namesOf(kind)).toEqual([])
    const first = await run(['import', 'crontab', path, '--tz', 'UTC'])
    expect(first.code).toBe(8)
    expect(first.out).toMatch(/\+ {2}poll +\*\/10 \* \* \* \* UTC/)
    expect(first.out).toMatch(/\+ {2}backup +30 2 \* \* \* Europe\/Berlin/)
    expect(first.out).toContain('! line 10  @reboot has no equivalent')
    expect(first.out).toMatch(/! line 11 .*never run/)
    expect(first.err).toContain('--allow-commands')
    expect(await namesOf(kind)).toEqual(['backup', 'certbot', 'mail', 'poll'])
    writeFileSync(path, crontab.replace('30 2', '45 2'))
    const again = await run(['import', 'crontab', path, '--tz', 'UTC', '--json'])
    const told = JSON.parse(again.out) as { jobs: { kind: string; name: string }[] }
    expect(told.jobs.map(job => `${job.kind} ${job.name}`)).toEqual([
      'unchanged poll',
      'changed backup',
      'unchanged mail',
      'unchanged certbot',
    ])
  })
})

describe('on a service', () => {
  const kind = 'remote'
  const run = remote

  it('files are compared and applied; only jobs of their label go', async () => {
    const app = `shop-${kind}`
    const jobs = (names: readonly string[], every = '1h') =>
      JSON.stringify({
        app,
        jobs: names.map(name => ({ name, trigger: { every }, handler: 'greet' })),
      })
    const path = file(`${app}.json`, jobs(['a', 'b', 'c']))
    expect(await run(['apply', '-f', path])).toMatchObject({ code: 0 })
    expect(await run(['plan', '-f', path, '--exit-code'])).toMatchObject({ code: 0 })
    writeFileSync(path, jobs(['a', 'b', 'd'], '2h'))
    const plan = await run(['plan', '-f', path, '--exit-code', '--tz', 'utc'])
    expect(plan.code).toBe(1)
    expect(plan.out).toContain('1 to add, 2 to change, 1 to archive, 0 unchanged')
    expect(plan.out).toMatch(/trigger +every 1h → every 2h\n +next +.* UTC, .* → .* UTC/)
    const refused = await run(['apply', '-f', path])
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    expect(await run(['apply', '-f', path, '--yes'])).toMatchObject({ code: 0 })
    writeFileSync(path, jobs([]))
    const mass = await run(['apply', '-f', path])
    expect(mass).toMatchObject({
      code: 5,
      err: expect.stringContaining('3 jobs would be archived'),
    })
    expect(await run(['apply', '-f', path, '--keep'])).toMatchObject({ code: 0 })
    const left = await client.jobs.list({ search: 'backup', status: 'scheduled' })
    expect(left.jobs.length).toBeGreaterThan(0)
  })

  it('what is exported can be applied elsewhere', async () => {
    const yaml = await run(['export', 'yaml', `queue:out-${kind}`])
    expect(yaml).toMatchObject({ code: 0, out: 'app: exported\njobs: []\n' })
    await client.jobs.create({
      name: `out-${kind}`,
      queue: `out-${kind}`,
      trigger: { cron: '0 6 * * 1', timezone: 'Asia/Tokyo' },
      handler: 'greet',
      priority: 5,
    })
    const output = join(place.folder, `out-${kind}.yaml`)
    const written = await run(['export', 'yaml', `queue:out-${kind}`, '-o', output])
    expect(written).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('1 job exported'),
    })
    expect(readFileSync(output, 'utf8')).toBe(`app: exported
jobs:
  - name: out-${kind}
    trigger:
      cron: 0 6 * * 1
      timezone: Asia/Tokyo
    handler: greet
    priority: 5
    queue: out-${kind}
`)
    const fresh = ['--store', `sqlite:${join(place.folder, `fresh-${kind}.db`)}`]
    expect(await local(['apply', '-f', output, ...fresh])).toMatchObject({ code: 0 })
    const ics = await run(['export', 'ics', `queue:out-${kind}`, '--days', '8'])
    expect(ics.out).toMatch(/DTSTART;TZID=Asia\/Tokyo:\d{8}T060000\r\n/)
    const cron = await run(['export', 'crontab', `queue:out-${kind}`])
    expect(cron).toMatchObject({
      out: '',
      err: expect.stringContaining('the handler greet is code'),
    })
  })
})

async function namesOf(kind: string): Promise<string[]> {
  const { jobs } = await client.jobs.list({ limit: 250 })
  const own = jobs.filter(job => job.declared_by === `crontab:tab-${kind}`)
  return own.map(({ name }) => name).toSorted()
}

describe('a problem', () => {
  it('of files is told with all others, each with its line', async () => {
    mkdirSync(join(place.folder, 'bad'))
    file(
      'bad/one.yaml',
      "app: bad\njobs:\n  - name: a\n    trigger: { cron: '61 * * * *' }\n    handler: greet\n",
    )
    file(
      'bad/two.yaml',
      'app: bad\njobs:\n  - name: b\n    trigger: { every: 1h }\n    handler: nobody\n    priority: 9\n',
    )
    const ran = await local(['apply', '-f', 'bad'])
    expect(ran.code).toBe(2)
    expect(ran.err).toMatch(/bad\/one.yaml:4: a: trigger.cron .*out of range/)
    expect(ran.err).toMatch(/bad\/two.yaml:6: b: priority must be/)
    expect(
      (await client.jobs.list({ search: 'a' })).jobs.filter(job => job.declared_by === 'bad'),
    ).toEqual([])
  })

  it.each([
    [['apply', '-f', 'missing.yaml'], 2, 'missing.yaml cannot be read'],
    [['plan'], 2, 'which file?'],
    [['export', 'jsn'], 2, 'did you mean json?'],
    [['import', 'crontab', '-', '--tz', 'Mars'], 2, 'Mars is not a time zone'],
    [['import', 'systemd', 'nowhere'], 2, 'nowhere is not there'],
    [['import', 'crontabs'], 2, 'crontab'],
    [['export', 'json', '--server', 'http://127.0.0.1:9'], 6, 'cannot be reached'],
  ])('of usage: %j ends with %i', async (words, code, text) => {
    expect(await local(words)).toMatchObject({ code, err: expect.stringContaining(text) })
  })

  it('of a service that allows no commands names the line and what to do', async () => {
    const other = new Place()
    try {
      const [, address] = await other.start(['dev', '--port', '0'], /Dashboard +(http:\S+?)\/\n/)
      const ran = await place.run(['import', 'crontab', '-', '--server', address!], {
        input: '\n0 1 * * * /bin/true\n',
      })
      expect(ran.code).toBe(2)
      expect(ran.err).toContain('line 2, true: action.kind must not be command')
      expect(ran.err).toContain('--allow-commands')
    } finally {
      await other.close()
    }
  })
})

describe('timers and CronJobs', () => {
  it('are taken over with their policies; a suspended one is paused', async () => {
    file('sync.timer', '[Timer]\nOnCalendar=Mon..Fri 09:00\nPersistent=true\n')
    file('sync.service', '[Service]\nExecStart=/usr/bin/sync-all\n')
    const timer = await remote(['import', 'systemd', 'sync.timer', '--tz', 'Europe/Berlin'])
    expect(timer).toMatchObject({ code: 0 })
    const manifest = `kind: CronJob
metadata: { name: nightly }
spec:
  schedule: "0 1 * * *"
  suspend: true
  jobTemplate: { spec: { template: { spec: { containers: [{ image: x, command: [go] }] } } } }
`
    expect(await remote(['import', 'k8s', '-'], { input: manifest })).toMatchObject({ code: 0 })
    const { jobs } = await client.jobs.list({ limit: 250 })
    expect(jobs.find(({ name }) => name === 'sync')).toMatchObject({
      trigger: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' },
      missed: 'once',
      overlap: 'skip',
    })
    expect(jobs.find(({ name }) => name === 'nightly')).toMatchObject({ status: 'paused' })
  })

  it('cron times of crawl jobs become intervals where they mean the same', async () => {
    const body = { source_id: 's', url: 'https://example.com/' }
    const every = await client.jobs.create({ ...body, schedule_time: '0 */6 * * *' })
    const odd = await client.jobs.create({ ...body, schedule_time: '7 3 * * 1-5' })
    const dry = await remote(['import', 'intervals', '--dry-run'])
    expect(dry.out).toContain(`${every.id}  0 */6 * * * → every 6 hours`)
    expect(dry.out).toContain(`! ${odd.id}  7 3 * * 1-5`)
    expect(await remote(['import', 'intervals'])).toMatchObject({ code: 2 })
    expect(await remote(['import', 'intervals', '--yes'])).toMatchObject({ code: 0 })
    expect(await client.jobs.get(every.id)).toMatchObject({
      interval_minutes: 6,
      interval_type: 'hours',
    })
  })
})
