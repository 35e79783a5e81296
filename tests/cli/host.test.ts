// Hosting, help and completion.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, hasTerminal, main, Place } from './program.ts'

const ESCAPE = '\u001B'
const colour = new RegExp(`${ESCAPE}\\[\\d+m`, 'g')

let place: Place
beforeAll(() => {
  ensureBuilt()
  place = new Place()
})
afterAll(() => place.close())

it('a worker runs what is in the store, without HTTP', async () => {
  await place.start(['worker', '--log-level', 'silent'], /handlers .*greet/)
  const added = await place.run(['add', 'job', '--manual', '--handler', 'greet'])
  expect(added.code).toBe(0)
  const ran = await place.run(['run', 'job', 'a=1', '--wait', '--timeout', '60s'])
  expect(JSON.parse(ran.out)).toEqual({ greeted: { a: 1 } })
})

it('ends in peace when whoever reads it has seen enough', () => {
  const line = `set -o pipefail; '${process.execPath}' '${main}' next '* * * * *' -n 5 | :`
  const ended = spawnSync('bash', ['-c', line], { env: place.env(), encoding: 'utf8' })
  expect(ended.stderr).not.toMatch(/EPIPE/)
  expect(ended.status).toBe(0)
})

describe('dev', () => {
  it('S6 needs no token here, and lets no page of others in, nor anyone through a proxy', async () => {
    const [, url] = await place.start(
      ['dev', '--port', '0', '--data', 'dev'],
      /Dashboard +(http:\S+?)\/\n/,
    )
    const ask = (headers: Record<string, string>, method = 'GET') =>
      fetch(`${url}/api/v1/${method === 'GET' ? 'jobs' : 'bulk'}`, { method, headers })
    expect((await ask({})).status).toBe(200)
    expect((await ask({ origin: 'https://evil.example' }, 'POST')).status).toBe(401)
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(401)
    const proxies = ['Forwarded', 'Via', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto']
    for (const name of [...proxies, 'X-Forwarded', 'X-Real-IP', 'CF-Connecting-IP']) {
      expect([name, (await ask({ [name]: 'x' })).status]).toEqual([name, 401])
    }
  })

  it('S6 lets in nobody with --allow-commands but who has its code or a token', async () => {
    const [, url, code] = await place.start(
      ['dev', '--port', '0', '--data', 'closed', '--allow-commands'],
      /Dashboard +(http:\S+?)\/\n[^]*#code=(\w+) [^]*commands +allowed for admins of every tenant:/,
    )
    const job = { action: { kind: 'command', shell: 'id' }, trigger: { every: '1h' } }
    const json = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(body),
      })
    expect((await post('/jobs', job)).status).toBe(401)
    expect((await fetch(`${url}/api/v1/jobs`)).status).toBe(401)
    const cookie = (await post('/session', { code })).headers.get('set-cookie')!.split(';', 1)[0]!
    expect((await post('/jobs', job, { cookie })).status).toBe(201)
    const words = ['token', '--role', 'admin', '--tenant', '*', '--data', 'closed']
    const authorization = `Bearer ${(await place.run(words)).out.trim()}`
    expect((await post('/jobs', job, { authorization })).status).toBe(201)
  })

  it('refuses to listen for others', async () => {
    const secret = { CARILLON_JWT_SECRET: 'N3v3r-Shared-With-Anyone-Else-At-All-42' }
    const { code, err } = await place.run(['dev', '--host', '0.0.0.0'], { env: secret })
    expect(code).toBe(2)
    expect(err).toContain('use carillon serve')
  })
})

describe('config check', () => {
  it('tells every setting and where it comes from, without secrets', async () => {
    const env = {
      CARILLON_SLOTS: '7',
      CARILLON_JWT_SECRET: 'N3v3r-Shared-With-Anyone-Else-At-All-42',
      CARILLON_STORE: 'postgres://me:hunter2@db.example/jobs',
    }
    const { code, out, err } = await place.run(['config', 'check'], { env })
    expect(code).toBe(0)
    expect(out).toMatch(/^slots +7 +CARILLON_SLOTS$/m)
    expect(out).toMatch(/^port +8060 +default$/m)
    expect(out).not.toMatch(/hunter2|N3v3r/)
    expect(err).toContain('handlers: greet, slow, broken')
  })

  it('tells all that is wrong at once', async () => {
    writeFileSync(join(place.folder, 'bad.json'), JSON.stringify({ colour: 'red', slots: 0 }))
    const { code, out, err } = await place.run(['config', 'check', '--config', 'bad.json'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('colour in')
    expect(err).toContain('slots in')
  })
})

it('help begins with examples, and commands are in groups', async () => {
  const [whole, one] = await Promise.all([place.run(['--help']), place.run(['pause', '-h'])])
  expect(whole.out).toMatch(/Look:[\s\S]*Act:[\s\S]*Host:/)
  expect(whole.out).not.toMatch(/^ +complete /m)
  expect(one.out).toMatch(
    /^Examples:\n {2}# for two hours\n {2}carillon pause billing\.invoice --until 2h/,
  )
  expect((await place.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('completion knows commands, flags, values and jobs', async () => {
  const complete = async (...words: string[]) =>
    (await place.run(['complete', '--', ...words])).out.trim().split('\n')
  expect(await complete('re')).toEqual(['resume', 'retry'])
  expect(await complete('pause', '--un')).toEqual(['--until'])
  expect(await complete('next', '--dialect', '')).toEqual(['extended', 'posix'])
  expect(await complete('list', '--tz', 'Europe/Berl')).toEqual(['Europe/Berlin'])
  expect(await complete('pause', 'jo')).toEqual(['job'])
  const { out } = await place.run(['completion', 'bash'])
  expect(out).toContain('complete -o default -F _carillon carillon')
  expect((await place.run(['completion', 'bsh'])).err).toContain('did you mean bash?')
})

/** Two minutes are the suite's: a person waits a fifth of a second on a machine that is not busy. */
it('what needs no store loads little', async () => {
  const loaded = async (...words: string[]) => {
    const env = { NODE_DEBUG: 'esm' }
    const { err } = await place.run(words, { env })
    return { isHeavy: /fastify|zod|undici|sqlite/.test(err) }
  }
  expect(await loaded('--version')).toEqual({ isHeavy: false })
  expect(await loaded('next', '0 7 * * *')).toEqual({ isHeavy: false })
})

describe.skipIf(!hasTerminal)('in a terminal', () => {
  let env: { CARILLON_SERVER: string }
  const run = (words: readonly string[]) => place.run(words, { env })
  beforeAll(async () => {
    const words = ['dev', '--port', '0', '--data', 'shown']
    const [, url] = await place.start(words, /Dashboard +(http:\S+?)\/\n/)
    env = { CARILLON_SERVER: url! }
  })

  it('what cannot be taken back is asked about', async () => {
    await run(['add', 'asked', '--manual', '--handler', 'greet'])
    const no = place.terminal(['rm', 'asked'], env)
    await no.sees('Remove asked with all history? [y/N]')
    no.type('n\n')
    expect(await no.ends()).toBe(1)
    expect(no.text).toContain('nothing was changed')
    const yes = place.terminal(['rm', 'asked'], env)
    await yes.sees('[y/N]')
    yes.type('y\n')
    expect(await yes.ends()).toBe(0)
    expect((await run(['show', 'asked'])).code).toBe(3)
  })

  it('tables fit its width and have colours unless they are not wanted', async () => {
    const long = `a-name-that-is-${'very-'.repeat(20)}long`
    await run(['add', long, '--every', '5m', '--handler', 'greet'])
    const shown = place.terminal(['list'], env)
    expect(await shown.ends()).toBe(0)
    const lines = shown.text.split('\r\n').map(line => line.replaceAll(colour, ''))
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
    expect(shown.text).toContain('…')
    expect(shown.text).toContain('\u001B[32m')
    const plain = place.terminal(['list'], { ...env, NO_COLOR: '1' })
    await plain.ends()
    expect(plain.text).not.toContain('\u001B[')
  })

  it('top shows what runs, and heeds its keys', async () => {
    await run(['add', 'long.one', '--manual', '--handler', 'slow'])
    await run(['run', 'long.one'])
    const top = place.terminal(['top', '--every', '200ms'], env)
    await top.sees(/▶ running.*long\.one.*40% almost half/s)
    top.type('/long\r')
    await top.sees('filter: long')
    top.type('c')
    await top.sees('cancel the run of long.one? [y/N]')
    top.type('y')
    await top.sees('cancelled the run of long.one')
    top.type('q')
    expect(await top.ends()).toBe(0)
    // The screen is given back.
    expect(top.text).toContain('\u001B[?1049l')
    const { out } = await run(['runs', 'long.one', '--plain', '--columns', 'status'])
    expect(out).toContain('cancelled')
  })
})
