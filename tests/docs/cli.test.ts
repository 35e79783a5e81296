// The pages on the command line and the client against the code they describe.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'node:util'
import { expect, test, vi } from 'vitest'
import { cliPage } from '../../scripts/cli-docs/page.ts'
import { createClient } from '../../src/client/index.ts'
import { resolveConfig } from '../../src/service/config/config.ts'
import { startService } from '../../src/service/start.ts'
import { mintFor } from '../../src/service/auth/mint.ts'
import { programsOf, write } from './blocks.ts'
import { names, page, readText, tableUnder } from './pages.ts'

test('the page of the command line is what the commands say', async () => {
  // If it is not: npx tsx scripts/cli-docs.ts
  expect(readText('docs/reference/cli.md')).toBe(await cliPage())
})

test('the page of the client names every method', () => {
  const described = tableUnder(page('docs/reference/client.md').text, 'Methods')
    .flatMap(row => row.flatMap(names))
    .map(name => name.replace(/\(.*$/, ''))
  const client = createClient({ url: 'http://localhost' })
  const methods = (of: object) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(of)).filter(name => name !== 'constructor')
  const groups = ['jobs', 'executions', 'runs', 'schedules', 'workflows'] as const
  const known = [
    ...methods(client),
    ...groups.flatMap(group => methods(client[group]).map(name => `${group}.${name}`)),
  ]
  expect(described.sort()).toEqual(known.sort())
})

test('the program of the client does what its page says', async () => {
  const data = mkdtempSync(join(tmpdir(), 'carillon-docs-client-'))
  const flags = { data, port: '0', logLevel: 'silent' }
  const config = resolveConfig({ flags, env: {}, file: null })
  const service = await startService(config, { greet: ({ payload }) => ({ hello: payload }) })
  const [program] = programsOf(page('docs/reference/client.md'))
  const written = write([program!])
  const printed: string[] = []
  const spy = vi.spyOn(console, 'log')
  spy.mockImplementation((...values) => void printed.push(format(...values)))
  vi.stubEnv('CARILLON_SERVER', service.address)
  vi.stubEnv(
    'CARILLON_TOKEN',
    await mintFor(config, { role: 'admin', tenant: 'acme', sub: 'docs', ttl: '1h' }),
  )
  try {
    await import(written.files[0]!)
  } finally {
    spy.mockRestore()
    vi.unstubAllEnvs()
    written.remove()
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  }
  expect(`${printed.join('\n')}\n`).toBe(program!.output)
})
