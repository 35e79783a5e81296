// S4: names whose servers never answer. Jobs of other tenants go on as if they were not there.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startNameServer } from '../support/name-server.ts'
import { eventually } from '../support/servers/wait.ts'
import { signToken, startService } from './harness/index.ts'

test('S4 names that are never answered delay no other tenant', async () => {
  const names = await startNameServer(name =>
    name === 'hooks.good.test' ? ['127.0.0.1'] : name.startsWith('hang') ? 'silence' : 'none',
  )
  const web = createServer((_, response) => response.end('ok'))
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    web.closeAllConnections()
    web.close()
  })
  const { port } = web.address() as AddressInfo
  const service = await startService([], {
    env: {
      CARILLON_DNS: names.address,
      CARILLON_ALLOW_HOSTS: `hooks.good.test:${port},*.evil.test`,
    },
  })
  const create = async (tenant: string, url: string): Promise<string> => {
    const { status, body } = await service.request(
      'POST',
      '/api/v1/jobs',
      { name: url, action: { kind: 'http', url } },
      { token: signToken({ tenant }) },
    )
    expect(status).toBe(201)
    return body['id'] as unknown as string
  }
  const hanging = Array.from({ length: 30 }, (_, i) => `http://hang${i}.evil.test/`)
  await Promise.all(hanging.map(url => create('evil', url)))
  await eventually('names are asked for', () => new Set(names.asked).size >= 16 || null)

  const before = performance.now()
  const id = await create('innocent', `http://hooks.good.test:${port}/`)
  const status = await eventually('the run of the other tenant', async () => {
    const { body } = await service.request('GET', `/api/v1/runs?job=${id}`)
    const [run] = body['runs'] as unknown as { status: string }[]
    return run === undefined || ['pending', 'running'].includes(run.status) ? null : run.status
  })
  const tookMs = performance.now() - before
  process.stdout.write(`a webhook beside names that hang: ${tookMs.toFixed(0)} ms\n`)
  expect(status).toBe('completed')
  // It took 29 s, and failed. The machine may be busy; the lookups still hang.
  expect(tookMs).toBeLessThan(5_000)
  expect(new Set(names.asked.filter(name => name.startsWith('hang'))).size).toBeLessThanOrEqual(16)
})
