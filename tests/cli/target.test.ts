// What is acted on, with which token, and what happens when nobody answers.

import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureBuilt, Place } from './program.ts'

let place: Place
let url: string
let token: string

beforeAll(async () => {
  ensureBuilt()
  place = new Place()
  const words = ['serve', '--port', '0', '--data', 'served', '--log-level', 'silent', '--no-worker']
  url = (await place.start(words, /Carillon is at (\S+)/))[1]!
  const made = await place.run(['token', '--role', 'viewer', '--data', 'served'])
  token = made.out.trim()
})
afterAll(() => place.close())

const list = (...words: string[]) => ['list', '--plain', '--columns', 'name', ...words]

it('the token comes from the environment or a file of one’s own, and roles hold', async () => {
  const env = { CARILLON_SERVER: url }
  const none = await place.run(list(), { env })
  expect(none.code).toBe(4)
  expect(none.err).toContain('CARILLON_TOKEN')
  expect((await place.run(list(), { env: { ...env, CARILLON_TOKEN: token } })).code).toBe(0)
  const file = join(place.folder, 'token')
  writeFileSync(file, `${token}\n`, { mode: 0o600 })
  expect((await place.run(list('--server', url, '--token-file', file))).code).toBe(0)
  const add = ['add', 'x', '--every', '5m', '--http', 'https://example.com', '--token-file', file]
  const refused = await place.run(add, { env })
  expect(refused.code).toBe(4)
  expect(refused.err).toContain('needs the role admin')
  chmodSync(file, 0o644)
  const open = await place.run(list('--server', url, '--token-file', file))
  expect(open.code).toBe(4)
  expect(open.err).toContain('can be read by others')
  // There is no flag for the token itself.
  const onLine = await place.run(list('--server', url, '--token', token))
  expect(onLine.code).toBe(2)
  expect(onLine.err).not.toContain(token)
})

it('a flag wins over the environment, that over the file, that over the default', async () => {
  writeFileSync(join(place.folder, 'remote.json'), JSON.stringify({ server: url, token }))
  expect((await place.run(list('--config', 'remote.json'))).code).toBe(0)
  const away = { CARILLON_SERVER: 'http://127.0.0.1:9' }
  const lost = await place.run(list('--config', 'remote.json'), { env: away })
  expect({ code: lost.code, out: lost.out }).toEqual({ code: 6, out: '' })
  expect(lost.err).toContain('http://127.0.0.1:9 cannot be reached')
  const flagged = list('--config', 'remote.json', '--server', url)
  expect((await place.run(flagged, { env: away })).code).toBe(0)
  // A store that is named wins over a service that is only in the environment.
  const named = await place.run(list('--store', 'sqlite:served/carillon.db'), { env: away })
  expect(named.code).toBe(0)
})

it('looking never makes a store, adding does', async () => {
  const data = join(place.folder, 'fresh')
  const looked = await place.run(list('--data', data))
  expect(looked.code).toBe(6)
  expect(looked.err).toContain('there is no store at')
  expect(existsSync(data)).toBe(false)
  const add = ['add', 'first', '--every', '5m', '--http', 'https://example.com', '--data', data]
  expect((await place.run(add)).code).toBe(0)
  expect((await place.run(list('--data', data))).out).toBe('first\n')
})

it.each([
  [list('--server', 'http://x', '--store', 'memory:'), 2, 'two different places'],
  [list('--store', 'memory:'), 2, 'memory: ends with the process'],
  [list('--store', 'mongodb://x'), 2, 'must be postgres://'],
  [list('--store', 'postgres://nobody:hunter2@127.0.0.1:9/x'), 6, 'carillon:'],
  [list('--server', 'ftp://x'), 2, 'is not the address of a service'],
  [list('--server', 'http://me:hunter2@x'), 2, 'CARILLON_TOKEN'],
  [list('--config', 'nowhere.mjs'), 2, 'cannot be read'],
])('%j is refused', async (words, exit, message) => {
  const { code, out, err } = await place.run(words)
  expect({ code, out }).toEqual({ code: exit, out: '' })
  expect(err).toContain(message)
  expect(err).not.toContain('hunter2')
})
