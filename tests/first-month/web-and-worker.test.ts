// T1: several programs on one store, each with its own list of jobs. A start stops nothing that
// another running program declares.

import { expect, test } from 'vitest'
import { freshStore, startProgram, startService, type Program } from './harness/index.ts'

/** Declares the jobs named in JOBS and tells what it runs and what it sees of the others. */
const node = `
import { createScheduler, every, job } from 'carillon'
const say = message => console.log(JSON.stringify(message))
const tells = name => ({ run: (_, context) => { say({ ran: name }); return name } })
const { JOBS, STORE, OPTIONS = '{}', WATCH = '', EVERY = '300', TRIGGER, LIVE } = process.env
const keys = name => name.slice('digest:'.length).split('+').map(key => ({ key, when: every(300) }))
const made = name => name === 'render'
  ? job(name, tells(name))
  : name.startsWith('digest:')
    ? job('digest', { schedule: keys(name), ...tells('digest') })
    : job(name, { schedule: every(Number(EVERY)), ...tells(name) })
const s = createScheduler({
  jobs: JOBS.split(',').map(made),
  store: STORE,
  metricsMs: 200,
  checkIntervalMs: 200,
  shutdown: { signals: true },
  print: line => say({ printed: line }),
  ...JSON.parse(OPTIONS),
})
const events = s.events({ types: ['job.changed'] })
void (async () => {
  for await (const { name, verb } of events) say({ event: verb + ' ' + name })
})()
await s.start()
say({ started: s.differences.map(({ kind, name }) => kind + ' ' + name) })
const seen = {}
const rowOf = name => name.includes(':') ? 'default:default:' + name : 'default:default:' + name + ':main'
const look = async () => {
  for (const name of WATCH.split(',').filter(Boolean)) {
    const row = await s.jobs.get(rowOf(name)).catch(() => null)
    const state = row?.ended?.reason ?? row?.state ?? 'none'
    const is = state === 'running' ? 'waiting' : state
    if (seen[name] === is) continue
    seen[name] = is
    const ledger = row ? (await s.engine.store.ledger(row.id, { limit: 100 })).items : []
    const audit = (await s.engine.store.listRecords('audit:default', { limit: 100 }, Date.now())).items
    say({
      job: name,
      is,
      runs: row?.counters.runs,
      skips: ledger.filter(one => one.decision === 'skip' && one.reason === 'undeclared').length,
      audit: audit.map(({ value }) => value.action),
    })
  }
}
if (WATCH) { await look(); setInterval(() => look().catch(() => {}), 100) }
if (TRIGGER) say({ result: await (await s.trigger(TRIGGER, undefined)).result() })
if (LIVE) setTimeout(async () => { await s.stop(); process.exit(0) }, Number(LIVE))
`

interface Given {
  readonly store: string
  readonly jobs: string
  readonly watch?: string
  readonly options?: object
  readonly env?: Readonly<Record<string, string>>
}

async function start({ store, jobs, watch = '', options = {}, env = {} }: Given): Promise<Program> {
  const program = startProgram(node, {
    env: { STORE: store, JOBS: jobs, WATCH: watch, OPTIONS: JSON.stringify(options), ...env },
  })
  await program.waitFor(/"started"/)
  return program
}

async function stop(program: Program): Promise<void> {
  await program.kill('SIGTERM')
}

const runsOf = (program: Program, name: string) =>
  program.messages().filter(({ ran }) => ran === name).length

/** So many more runs of the job in this program than there were. */
async function expectMore(program: Program, name: string, count = 3): Promise<void> {
  const from = runsOf(program, name)
  await expect
    .poll(() => runsOf(program, name), { timeout: 20_000, interval: 50 })
    .toBeGreaterThanOrEqual(from + count)
}

const startedWith = (program: Program) =>
  program.messages().find(({ started }) => started !== undefined)!['started']

function becomes(program: Program, name: string, is: string) {
  return program.waitUntil(`${name} to be ${is}`, () =>
    program.messages().find(one => one['job'] === name && one['is'] === is),
  )
}

const stores = ['sqlite', 'postgres'] as const

test.each(stores)('T1 a web process leaves the other jobs of a worker alone, on %s', async kind => {
  const store = await freshStore(kind)
  const worker = await start({ store, jobs: 'render,nightly' })
  await expectMore(worker, 'nightly', 1)
  const web = await start({ store, jobs: 'render' })
  expect(startedWith(web)).toEqual([])
  await expectMore(worker, 'nightly')
})

test('T1 two services under one label keep their jobs', async () => {
  const store = await freshStore('postgres')
  let mailer = await start({ store, jobs: 'mails' })
  const billing = await start({ store, jobs: 'bills' })
  await expectMore(mailer, 'mails', 1)
  await stop(mailer)
  mailer = await start({ store, jobs: 'mails' })
  await expectMore(billing, 'bills')
  await expectMore(mailer, 'mails')
})

test('T1 an old process that restarts stops no new job', async () => {
  const store = await freshStore('sqlite')
  const old = await start({ store, jobs: 'render' })
  const next = await start({ store, jobs: 'render,nightly' })
  await stop(old)
  await start({ store, jobs: 'render' })
  await expectMore(next, 'nightly')
})

test('T1 a process that only enqueues stops nothing', async () => {
  const store = await freshStore('postgres')
  const worker = await start({ store, jobs: 'render,nightly' })
  const options = { queues: {}, orphanGraceMs: 0 }
  const env = { EVERY: '60000', TRIGGER: 'render' }
  const web = await start({ store, jobs: 'render,other', options, env })
  expect(startedWith(web)).toEqual(['added other'])
  await web.waitFor(/\{"result":"render"\}/)
  await expectMore(worker, 'nightly')
  expect(runsOf(web, 'render')).toBe(0)
})

test.each(stores)(
  'T1 an undeclared job is archived after its grace and comes back, on %s',
  async kind => {
    const store = await freshStore(kind)
    const first = await start({ store, jobs: 'render,nightly' })
    await expectMore(first, 'nightly', 2)
    await stop(first)
    const options = { orphanGraceMs: 1_500 }
    const second = await start({ store, jobs: 'render', watch: 'nightly', options })
    expect(startedWith(second)).toEqual(['undeclared nightly'])
    await becomes(second, 'nightly', 'waiting')
    const archived = await becomes(second, 'nightly', 'archived')
    expect(archived).toMatchObject({ skips: 1, audit: ['job.archive'] })
    await second.waitFor(/nightly was archived: no running node of app default declares it/)
    await second.waitFor(/\{"event":"archive nightly"\}/)
    const third = await start({ store, jobs: 'render,nightly', watch: 'nightly' })
    const back = await becomes(third, 'nightly', 'waiting')
    expect(back['runs']).toBeGreaterThanOrEqual(Number(archived['runs']))
    await expectMore(third, 'nightly')
  },
)

test('T1 the grace stands still while no process runs', async () => {
  const store = await freshStore('sqlite')
  const worker = await start({ store, jobs: 'nightly' })
  await expectMore(worker, 'nightly', 1)
  await stop(worker)
  const options = { orphanGraceMs: 3_000 }
  for (let day = 0; day < 3; day++) {
    const web = await start({ store, jobs: 'render', options, env: { LIVE: '800' } })
    await web.exited
    expect(web.stdout + web.stderr).not.toContain('archived')
  }
  const again = await start({ store, jobs: 'nightly' })
  await expectMore(again, 'nightly', 1)
})

test('T1 a schedule taken off the list goes when nobody lists it any more', async () => {
  const store = await freshStore('sqlite')
  const old = await start({ store, jobs: 'digest:a+b' })
  const next = await start({ store, jobs: 'digest:a', watch: 'digest:b' })
  expect(startedWith(next)).toEqual([])
  await expectMore(old, 'digest', 1)
  expect(next.messages().some(one => one['is'] === 'archived')).toBe(false)
  await stop(old)
  await becomes(next, 'digest:b', 'archived')
})

test('T1 two versions of a job at one generation are warned about on both sides', async () => {
  const store = await freshStore('sqlite')
  const first = await start({ store, jobs: 'nightly', options: { nodeId: 'first' } })
  const env = { EVERY: '400' }
  const second = await start({ store, jobs: 'nightly', options: { nodeId: 'second' }, env })
  await first.waitFor(/nightly is declared differently by this node and by second/)
  await second.waitFor(/nightly is declared differently by this node and by first/)
  expect(first.stderr.match(/declared differently/g)).toHaveLength(1)
})

test('T1 an undeclared job raises no alarm (guard)', async () => {
  const store = await freshStore('sqlite')
  const worker = await start({ store, jobs: 'nightly' })
  await stop(worker)
  const service = await startService(['--store', store])
  const codes = async () => {
    const { body } = await service.request('GET', '/api/v1/attention')
    return (body as unknown as { findings: { code: string }[] }).findings.map(({ code }) => code)
  }
  expect(await codes()).toContain('unbound')
  await start({ store, jobs: 'render', watch: 'nightly' })
  await expect.poll(codes, { timeout: 15_000 }).not.toContain('unbound')
})
