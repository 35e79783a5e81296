// The launcher of the servers: what it picks, what it refuses, and that nothing stays behind.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBinaries, findFaketime, missingMessage, type Surroundings } from './binaries.ts'
import { isOpenToAll } from './folders.ts'
import { freePort } from './ports.ts'
import { askPostgres, expectOwnPostgres } from './postgres.ts'
import { isAlive } from './processes.ts'
import { askRedis, expectOwnRedis, startRedis } from './redis.ts'
import { freshNamespace, freshPlace, freshSchema, offeredServer } from './shared.ts'
import { eventually } from './wait.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-launcher-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function programs(path: string, ...names: string[]): Promise<string> {
  await mkdir(join(folder, path), { recursive: true })
  for (const name of names) await writeFile(join(folder, path, name), '', { mode: 0o755 })
  return join(folder, path)
}

const nowhere: Surroundings = { path: '', libFolder: '/nowhere', cacheFolder: '/nowhere' }

test('a free port can be listened on', async () => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(server.address()).toMatchObject({ port })
  server.close()
})

describe('the choice of binaries', () => {
  test('the path wins over Debian’s folders', async () => {
    const onPath = await programs('path', 'postgres', 'initdb', 'pg_ctl')
    await programs('a/postgresql/15/bin', 'postgres', 'initdb', 'pg_ctl')
    const where = { ...nowhere, path: `/nowhere:${onPath}`, libFolder: join(folder, 'a') }
    expect(findBinaries('postgres', where)).toBe(onPath)
  })

  test('among Debian’s folders the newest version that is complete wins', async () => {
    await programs('b/postgresql/9/bin', 'postgres', 'initdb', 'pg_ctl')
    const newest = await programs('b/postgresql/15/bin', 'postgres', 'initdb', 'pg_ctl')
    // Clients only.
    await programs('b/postgresql/17/bin', 'psql')
    expect(findBinaries('postgres', { ...nowhere, libFolder: join(folder, 'b') })).toBe(newest)
  })

  test('nothing is found where nothing is', () => {
    expect(findBinaries('postgres', nowhere)).toBeNull()
    expect(findBinaries('redis', nowhere)).toBeNull()
    expect(findFaketime(nowhere)).toBeNull()
  })

  test('the library for other clocks is found in the folder of the machine', async () => {
    const made = await programs('c/some-machine/faketime', 'libfaketime.so.1')
    const where = { ...nowhere, libFolder: join(folder, 'c') }
    expect(findFaketime(where)).toBe(join(made, 'libfaketime.so.1'))
  })

  test('M2 the message says what is missing and how to get it', () => {
    expect(missingMessage('redis')).toBe(
      'redis-server is not installed; get it with: sudo apt-get install redis-server, or brew install redis',
    )
  })
})

test('a folder below a private one is not open to all', async () => {
  const inner = await programs('private/inner')
  expect(await isOpenToAll(inner)).toBe(false)
  expect(await isOpenToAll('/')).toBe(true)
  await chmod(folder, 0o755)
  await chmod(join(folder, 'private'), 0o700)
  expect(await isOpenToAll(inner)).toBe(false)
})

describe('shared servers', async () => {
  const postgres = await offeredServer('postgres')
  const redis = await offeredServer('redis')

  test.skipIf('missing' in postgres)('PostgreSQL keeps what production would', async () => {
    const { url } = postgres as { url: string }
    const rows = await askPostgres(
      url,
      `select name, setting from pg_settings
       where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
    )
    expect(rows.map(row => row['setting'])).toEqual(['on', 'on', 'on'])
  })

  test.skipIf('missing' in redis)('Redis keeps what it was told', async () => {
    const { url } = redis as { url: string }
    expect(await askRedis(url, 'CONFIG', 'GET', 'appendonly')).toEqual(['appendonly', 'yes'])
    const [, policy] = (await askRedis(url, 'CONFIG', 'GET', 'maxmemory-policy')) as string[]
    expect(policy).toBe('noeviction')
  })

  test.skipIf('missing' in postgres)('another PostgreSQL server is refused', async () => {
    const { url } = postgres as { url: string }
    await expect(expectOwnPostgres(url, 'carillon-other')).rejects.toThrow(/not ours/)
  })

  test.skipIf('missing' in redis)('another Redis server is refused', async () => {
    const { url } = redis as { url: string }
    await expect(expectOwnRedis(url, '/elsewhere')).rejects.toThrow(/not ours/)
  })

  test.skipIf('missing' in redis)('a cleaned namespace leaves its neighbour alone', async () => {
    const { url } = redis as { url: string }
    const [one, other] = [freshNamespace(url), freshNamespace(url)]
    for (const { name } of [one, other]) await askRedis(url, 'SET', `{${name}}:a`, '1')
    await one.clean()
    expect(await askRedis(url, 'EXISTS', `{${one.name}}:a`)).toBe(0)
    expect(await askRedis(url, 'EXISTS', `{${other.name}}:a`)).toBe(1)
    await other.clean()
  })

  test.skipIf('missing' in postgres)('a cleaned schema is gone', async () => {
    const place = freshSchema((postgres as { url: string }).url)
    await askPostgres(place.url, `create schema "${place.name}" create table t (a int)`)
    await place.clean()
    const found = await askPostgres(place.url, `select to_regnamespace($1) as found`, [place.name])
    expect(found).toEqual([{ found: null }])
  })
})

test('a missing server is a reason to skip, but an error in CI', async () => {
  const before = { ...process.env }
  delete process.env['CARILLON_TEST_SERVERS']
  delete process.env['CARILLON_TEST_REDIS_URL']
  try {
    process.env['CI'] = ''
    expect(await freshPlace('redis')).toHaveProperty('missing')
    process.env['CI'] = 'true'
    await expect(offeredServer('redis')).rejects.toThrow(/CI skips nothing/)
    process.env['CARILLON_TEST_REDIS_URL'] = 'redis://given:1/0'
    expect(await offeredServer('redis')).toEqual({ url: 'redis://given:1/0' })
  } finally {
    process.env = before
  }
})

describe.skipIf(findBinaries('redis') === null)('a Redis server of its own', () => {
  test('what was acknowledged survives a kill', async () => {
    const server = await startRedis()
    try {
      await askRedis(server.url, 'SET', 'kept', 'yes')
      await server.kill()
      expect(server.pid).toBeNull()
      await server.start()
      expect(await askRedis(server.url, 'GET', 'kept')).toBe('yes')
    } finally {
      await server.stop()
    }
    expect(existsSync(server.folder)).toBe(false)
  })

  test('it ends with the process that started it, and its folder goes too', async () => {
    const file = fileURLToPath(new URL('redis.ts', import.meta.url))
    const script = `
      const { startRedis } = await import(${JSON.stringify(file)})
      const { pid, folder } = await startRedis()
      console.log(JSON.stringify({ pid, folder }))
      setInterval(() => {}, 1000)`
    const args = ['--import', 'tsx', '--input-type=module', '-e', script]
    const starter = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(starter.stdout, 'data')) as [Buffer]
    const made = JSON.parse(line.toString()) as { pid: number; folder: string }
    expect(isAlive(made.pid)).toBe(true)
    starter.kill('SIGKILL')
    await eventually('the server is gone', () => (isAlive(made.pid) ? null : true))
    await eventually('its folder is gone', () => (existsSync(made.folder) ? null : true))
  })
})
