// G2: a claimed job starts at once or goes back; nothing waits behind a long job.

import { expect, test } from 'vitest'
import {
  freshStore,
  runProgram,
  startProgram,
  startService,
  type Service,
} from './harness/index.ts'

const worker = `
import { createScheduler, job } from 'carillon'
const say = message => console.log(JSON.stringify(message))
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
const order = []
let release = () => {}
const long = job('long', {
  run: () => {
    say({ started: 'long' })
    return new Promise(resolve => { release = resolve; setTimeout(resolve, 20_000) })
  },
})
const quick = job('quick', { run: input => { order.push(input); say({ started: 'quick', input }) } })
const s = createScheduler({
  jobs: [long, quick], store: process.env.STORE, slots: 1, logger: false, print: () => {},
})
await s.start()
/** Many quick ones, until it claims ahead of its slots. */
const warmUp = async () => {
  for (let round = 0; round < 3; round++) {
    const runs = []
    for (let i = 0; i < 100; i++) runs.push(await s.trigger('quick', 'warm'))
    await Promise.all(runs.map(run => run.result()))
  }
}
`

test.each(['postgres', 'redis'] as const)(
  'G2 thirty quick jobs behind a long one run on the idle process, on %s',
  async kind => {
    const env = { STORE: await freshStore(kind) }
    const idle = startProgram(`${worker}\nsay({ ready: true })`, { env })
    await idle.waitFor(/"ready":true/)
    const busy = startProgram(
      `${worker}
      await warmUp()
      await s.trigger('long', null, { priority: 'critical' })
      for (let i = 0; i < 30; i++) await s.trigger('quick', i)
      say({ pushed: true })`,
      { env },
    )
    await busy.waitFor(/"pushed":true/, 40_000)
    const started = () => {
      const all = [...idle.messages(), ...busy.messages()]
      const inputs = all.filter(one => typeof one['input'] === 'number').map(one => one['input'])
      return new Set(inputs).size === 30 ? inputs : null
    }
    const inputs = await busy.waitUntil('thirty quick jobs', started, 10_000)
    expect(inputs).toHaveLength(30)
    await Promise.all([idle.kill(), busy.kill()])
  },
)

test.each(['sqlite', 'postgres', 'redis'] as const)(
  'G2 a higher priority goes before claims that wait for a slot, on %s',
  async kind => {
    const { stdout } = await runProgram(
      `${worker}
      await warmUp()
      await s.trigger('long', null, { priority: 'critical' })
      while (!order.includes('late')) {
        for (let i = 0; i < 20; i++) await s.trigger('quick', 'low' + i, { priority: 'very_low' })
        await s.trigger('quick', 'critical', { priority: 'critical' })
        await sleep(1_500)
        const before = order.length
        release()
        while (order.length === before) await sleep(20)
        say({ first: order[before] })
        order.push('late')
      }
      process.exit(0)`,
      { env: { STORE: await freshStore(kind) } },
    )
    expect(stdout).toContain('{"first":"critical"}')
  },
)

/** The executions of jobs that run, according to the service. */
async function running(service: Service): Promise<number> {
  const { body } = await service.request('GET', '/api/v1/jobs?status=running&limit=50')
  return (body['jobs'] as unknown as unknown[]).length
}

test('G2 a job that waits for a slot does not read running and can be paused', async () => {
  const config = `
    let calls = 0
    export default { handlers: {
      long: () => new Promise(resolve => setTimeout(resolve, 15_000)),
      quick: () => { calls++ },
    } }`
  const service = await startService(['--slots', '1'], { config })
  const create = async (name: string, handler: string, trigger: object) =>
    textOf((await service.request('POST', '/api/v1/jobs', { name, handler, trigger })).body['id'])
  const hourly = { every: '1h' }
  const ids: string[] = []
  for (let i = 0; i < 8; i++) ids.push(await create(`q${i}`, 'quick', hourly))
  for (let round = 0; round < 40; round++) {
    for (const id of ids) await service.request('POST', `/api/v1/jobs/${id}/run`)
  }
  const long = await create('long', 'long', hourly)
  await service.request('POST', `/api/v1/jobs/${long}/run`)
  for (const id of ids) await service.request('POST', `/api/v1/jobs/${id}/run`)
  await new Promise(resolve => setTimeout(resolve, 1_500))
  expect(await running(service)).toBe(1)
  const paused = await service.request('POST', `/api/v1/jobs/${ids[0]}/pause`)
  expect(paused.status).toBe(200)
  await service.program.kill()
})

function textOf(value: unknown): string {
  return value as string
}
