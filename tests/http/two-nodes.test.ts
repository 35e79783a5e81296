// Two services on one store: what one of them is told, the other one hears of.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callAt, carillon, SERVE_SECRET, serveIn, type Serving } from '../support/carillon.ts'
import { freshPlace } from '../support/servers/shared.ts'
import { eventually } from '../support/servers/wait.ts'
import { skipTest } from '../support/skip.ts'

const places: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  sqlite: async folder => `sqlite:${join(folder, 'jobs.db')}`,
  postgres: () => placeOn('postgres'),
  redis: () => placeOn('redis'),
}

async function placeOn(kind: 'postgres' | 'redis'): Promise<string> {
  const place = await freshPlace(kind)
  if ('missing' in place) skipTest(place.missing)
  onTestFinished(() => place.clean())
  return place.url
}

/** Runs until it is aborted, and leaves a file that says why. */
const handlers = `import { writeFileSync } from 'node:fs'
  export default { handlers: { hold: ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      writeFileSync('aborted', String(signal.reason?.message ?? signal.reason))
      reject(signal.reason)
    })
  }) } }`

describe('a service that takes requests and another one that runs jobs', () => {
  it.each(Object.keys(places))('B4 a cancel reaches the running job, on %s', async kind => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-two-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const store = await places[kind]!(folder)
    writeFileSync(join(folder, 'carillon.config.mjs'), handlers)
    const env = { CARILLON_JWT_SECRET: SERVE_SECRET }
    const [worker, front] = await Promise.all([
      serveIn(folder, { env, args: ['--store', store, '--node-id', 'worker'] }),
      serveIn(folder, { env, args: ['--store', store, '--no-worker', '--node-id', 'front'] }),
    ])
    onTestFinished(async () => {
      await front.kill()
      await worker.kill()
    })
    const call = await callAt(front)
    const made = await call('POST', '/api/v1/jobs', { handler: 'hold' })
    expect(made.status).toBe(201)
    const path = `/api/v1/jobs/${String(made.body['id'])}`
    await eventually('it runs', async () =>
      (await call('GET', path)).body['status'] === 'running' ? true : null,
    )
    expect((await call('POST', `${path}/cancel`)).body).toMatchObject({ status: 'cancelled' })
    const file = join(folder, 'aborted')
    // The file is there before its text is.
    const readText = () => (existsSync(file) ? readFileSync(file, 'utf8') : '') || null
    expect(await eventually('the handler is aborted', readText)).toContain('cancel')
    const { body } = await call('GET', `${path}/executions`)
    expect(body['executions']).toMatchObject([{ status: 'cancelled' }])
    expect((await call('GET', path)).body['status']).toBe('cancelled')
  })

  it('S5 signing out on one ends the session on both, and a revoked token on all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-two-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const store = await places['sqlite']!(folder)
    const env = { CARILLON_JWT_SECRET: SERVE_SECRET }
    const flags = ['--store', store, '--no-worker']
    const [one, other] = await Promise.all([
      serveIn(folder, { env, args: [...flags, '--node-id', 'one'] }),
      serveIn(folder, { env, args: [...flags, '--node-id', 'other'] }),
    ])
    onTestFinished(async () => {
      await one.kill()
      await other.kill()
    })
    const minted = carillon(folder, ['token', '--role', 'admin', '--tenant', '*'], env)
    const token = minted.stdout.trim()
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
    const path = '/api/v1/session'
    const signIn = () =>
      fetch(one.address + path, { method: 'POST', headers, body: JSON.stringify({ token }) })
    const statusAt = async (serving: Serving, more: Record<string, string>) =>
      (await fetch(serving.address + path, { headers: more })).status
    const cookie = (await signIn()).headers.get('set-cookie')!.split(';', 1)[0]!
    expect(await statusAt(other, { cookie })).toBe(200)
    await fetch(other.address + path, { method: 'DELETE', headers: { ...headers, cookie } })
    expect([await statusAt(one, { cookie }), await statusAt(other, { cookie })]).toEqual([401, 401])
    const revoked = carillon(folder, ['token', 'revoke', token, '--store', store], env)
    expect([revoked.status, revoked.stderr]).toEqual([0, expect.stringContaining('revoked token')])
    expect(revoked.stdout + revoked.stderr).not.toContain(token)
    expect((await signIn()).status).toBe(401)
  })
})
