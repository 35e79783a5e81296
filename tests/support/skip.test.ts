// A machine without Redis and apt-get, such as a laptop: a path that leads to neither.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BROKER_VARIABLE } from './servers/broker.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let bin = ''

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'carillon-laptop-'))
  await symlink(process.execPath, join(bin, 'node'))
  const folders = process.env['PATH']!.split(delimiter)
  for (const name of ['sh', 'id', 'git']) {
    const found = folders.map(folder => join(folder, name)).find(file => existsSync(file))
    if (found !== undefined) await symlink(found, join(bin, name))
  }
})
afterAll(() => rm(bin, { recursive: true, force: true }))

/** What a run of node prints, and how it ends. */
async function runNode(args: readonly string[], ci: '' | 'true') {
  const { [BROKER_VARIABLE]: _broker, CARILLON_TEST_REDIS_URL: _url, ...rest } = process.env
  const inherited = Object.entries(rest).filter(([name]) => !name.startsWith('VITEST'))
  const env = { ...Object.fromEntries(inherited), PATH: bin, CI: ci, NO_COLOR: '1' }
  const child = spawn(process.execPath, args, { cwd: root, env })
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, output: out + err }
}

const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project=unit']

test('M2 tests on a missing server are skipped', async () => {
  const files = ['src/store/redis/wake.test.ts', 'src/store/redis/due.test.ts']
  const { code, output } = await runNode([...vitest, ...files], '')
  expect(output).toMatch(/Tests {2}(\d+) skipped \(\1\)/)
  expect(code).toBe(0)
})

test('M2 with CI=true a missing server fails the tests', async () => {
  const { code, output } = await runNode([...vitest, 'src/store/redis/due.test.ts'], 'true')
  expect(output).toMatch(/redis is missing, and CI skips nothing: redis-server is not installed/)
  expect(code).not.toBe(0)
})

test('M2 with CI=true npm test ends before the first suite and says what is missing', async () => {
  const args = ['--import', 'tsx', 'scripts/test.ts', '--only', 'unit']
  const { code, output } = await runNode(args, 'true')
  expect(output).toMatch(/CI skips nothing, but:\n {2}redis-server is not installed; get it with/)
  expect(output).not.toMatch(/passed/)
  expect(code).not.toBe(0)
})
