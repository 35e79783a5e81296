// N5: whoever sets an address is told when a job fails, gives up, ends, does not come, or works again:
// once each, also by several nodes, and also when the receiver or the service was down meanwhile.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, freshStore, runProgram, startService, workFolder } from './harness/index.ts'
import type { Service } from './harness/index.ts'

interface Received {
  readonly type: string
  readonly data: {
    readonly condition: string
    readonly message: string
    readonly episode: string
    readonly job: { readonly id: string | null; readonly name: string } | null
  }
}

/** Answers 503 until it is opened; keeps what it took. */
class Receiver {
  readonly taken: Received[] = []
  refused = 0
  isOpen: boolean
  readonly #server: Server

  constructor(isOpen: boolean) {
    this.isOpen = isOpen
    this.#server = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => (body += chunk))
      request.on('end', () => {
        if (this.isOpen) this.taken.push(JSON.parse(body) as Received)
        else this.refused++
        response.writeHead(this.isOpen ? 204 : 503).end()
      })
    })
    onTestFinished(() => void this.#server.close())
  }

  async listen(): Promise<Readonly<Record<string, string>>> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    const { port } = this.#server.address() as AddressInfo
    return {
      CARILLON_ALERT_URL: `http://127.0.0.1:${port}/hook`,
      CARILLON_ALLOW_HOSTS: `127.0.0.1:${port}`,
      CARILLON_ALERTS: 'run_missing=1s,success_rate=off,processing_delay=off,error_rate=off',
    }
  }

  /** What it was told, once it was told so much. */
  told(count: number): Promise<string[]> {
    return eventually(
      `${count} alerts`,
      () => (this.taken.length >= count ? this.lines : null),
      40_000,
    )
  }

  get lines(): string[] {
    return this.taken.map(({ type, data }) => `${type} ${data.condition} ${data.job?.name}`)
  }
}

const config = `
  import { existsSync } from 'node:fs'
  export default {
    handlers: {
      flaky: () => { if (!existsSync('ok')) throw new Error('partner down') },
      fine: () => {},
      blocks: async () => {
        while (!existsSync('free')) await new Promise(resolve => setTimeout(resolve, 50))
      },
    },
  }`

const flaky = {
  name: 'flaky',
  tenant: 'default',
  handler: 'flaky',
  trigger: { every: '1s' },
  retry: { limit: 1, backoff: { kind: 'fixed', delay_seconds: 0.1 }, exhausted: 'next' },
}

async function add(service: Service, body: object): Promise<string> {
  const made = await service.request('POST', '/api/v1/jobs', body)
  expect(made).toMatchObject({ status: 201 })
  return made.body['id'] as unknown as string
}

test('N5 two services tell each step once, through a receiver that is down and a kill -9', async () => {
  const receiver = new Receiver(false)
  const env = { ...(await receiver.listen()), CARILLON_STORE: await freshStore('postgres') }
  const folder = workFolder({ 'carillon.config.mjs': config })
  const one = await startService([], { env, folder })
  const other = await startService([], {
    env,
    folder: workFolder({ 'carillon.config.mjs': config }),
  })
  const id = await add(one, flaky)
  await eventually('a refused alert', () => (receiver.refused > 0 ? true : null))
  await Promise.all([one.program.kill('SIGKILL'), other.program.kill('SIGKILL')])
  receiver.isOpen = true
  const again = await startService([], { env, folder })
  expect(await receiver.told(2)).toEqual([
    'alert.raised first_failure flaky',
    'alert.raised run_failed flaky',
  ])
  const attention = await again.request('GET', '/api/v1/attention')
  expect(attention.body['findings']).toContainEqual(
    expect.objectContaining({ code: 'failing', job_id: id }),
  )
  writeFileSync(join(folder, 'ok'), '')
  expect((await receiver.told(3)).at(-1)).toBe('alert.cleared run_failed flaky')
  const [first, , last] = receiver.taken
  expect(last!.data.episode).toBe(first!.data.episode)
  expect(last!.data.message).toMatch(/^"flaky" succeeded again after /)
  const log = one.program.stderr + other.program.stderr + again.program.stderr
  const raised = log.split('\n').filter(line => line.includes('"msg":"alert raised"'))
  expect(raised.map(line => (JSON.parse(line) as { condition: string }).condition)).toEqual([
    'first_failure',
    'run_failed',
  ])
  expect(raised.every(line => (JSON.parse(line) as { level: number }).level === 50)).toBe(true)
  expect(receiver.taken).toHaveLength(3)
})

test('N5 an end, a run that does not come, and the next one that does are told', async () => {
  const receiver = new Receiver(true)
  const env = await receiver.listen()
  const folder = workFolder({ 'carillon.config.mjs': config })
  const service = await startService(['--slots', '1'], { env, folder })
  const id = await add(service, { ...flaky, name: 'stops', retry: { limit: 0, exhausted: 'stop' } })
  expect(await receiver.told(1)).toEqual(['alert.raised job_ended stops'])
  // It holds the only slot, so that no run of the other job comes.
  await add(service, { ...flaky, name: 'blocks', handler: 'blocks' })
  await eventually('a blocked slot', async () => {
    const { body } = await service.request('GET', '/api/v1/jobs?status=running')
    return (body['total'] as unknown) === 1 ? true : null
  })
  const late = await add(service, { ...flaky, name: 'late', handler: 'fine', grace_seconds: 0 })
  expect((await receiver.told(2)).at(-1)).toBe('alert.raised run_missing late')
  const attention = await service.request('GET', '/api/v1/attention')
  expect(attention.body['findings']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ code: 'failed', job_id: id }),
      expect.objectContaining({ code: 'missing', job_id: late, severity: 'error' }),
    ]),
  )
  writeFileSync(join(folder, 'free'), '')
  expect((await receiver.told(3)).at(-1)).toBe('alert.cleared run_missing late')
})

test('N5 the library tells it too: tasks by their definition, as events and on the console', async () => {
  const { stderr, stdout, code } = await runProgram(`
import { createScheduler, job } from 'carillon'
let bad = true
const mail = job('mail', {
  retry: { limit: 0 },
  run: () => { if (bad) throw new Error('smtp down') },
})
const s = createScheduler({ jobs: [mail], store: 'memory:', print: () => {} })
const events = s.events({ types: ['alert.raised', 'alert.cleared'] })
await s.start()
for (let i = 0; i < 5; i++) await s.trigger('mail', undefined)
const { value: raised } = await events.next()
console.log(JSON.stringify(raised))
bad = false
await s.trigger('mail', undefined)
const { value: cleared } = await events.next()
console.log(JSON.stringify(cleared))
await s.stop()`)
  expect(code).toBe(0)
  const [raised, cleared] = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
  expect(raised).toMatchObject({
    type: 'alert.raised',
    condition: 'run_failed',
    name: 'mail',
    message: 'a task of "mail" failed and is not tried again: smtp down',
  })
  expect(cleared).toMatchObject({ type: 'alert.cleared', episode: raised!['episode'] })
  expect(stderr).toMatch(/ERROR mail failed: smtp down/)
})
