// `carillon serve` and `carillon token` as processes: starting, signing in, the original's curl
// lines, stopping.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  callAt,
  carillon as run,
  SERVE_SECRET,
  serveIn,
  type ServeOptions,
  type Serving,
} from '../support/carillon.ts'
import { eventually } from '../support/servers/wait.ts'
import type { Wire } from './service.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'carillon-serve-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function serve(cwd: string, options: ServeOptions = {}): Promise<Serving> {
  const serving = await serveIn(cwd, options)
  onTestFinished(() => serving.kill())
  return serving
}

const json = { 'content-type': 'application/json' }

describe('carillon serve', () => {
  it("serves the original's curl lines once a token is added", async () => {
    const cwd = folder()
    const { address, output } = await serve(cwd)
    expect(output()).toContain('survives crashes')
    expect(statSync(join(cwd, '.carillon/jwt-secret')).mode & 0o777).toBe(0o600)
    const minted = run(cwd, ['token', '--role', 'admin', '--tenant', 'default'])
    expect(minted.status).toBe(0)
    const authorization = `Bearer ${minted.stdout.trim()}`
    const created = await fetch(`${address}/api/v1/jobs`, {
      method: 'POST',
      headers: { ...json, authorization },
      body:
        '{"source_name": "example.com", "url": "https://example.com", "interval_minutes": 30, ' +
        '"interval_type": "minutes", "schedule_enabled": true}',
    })
    expect(created.status).toBe(201)
    const job = (await created.json()) as Wire
    const paused = await fetch(`${address}/api/v1/jobs/${job.id}/pause`, {
      method: 'POST',
      headers: { authorization },
    })
    expect(await paused.json()).toMatchObject({ status: 'paused', is_paused: true })
    const metrics = await fetch(`${address}/api/v1/scheduler/metrics`, {
      headers: { authorization },
    })
    expect(await metrics.json()).toMatchObject({ jobs: { paused: 1 }, stale_locks_cleared: 0 })
    expect((await fetch(`${address}/api/v1/scheduler/metrics`)).status).toBe(401)
  })

  it('prints a link on the first start only; its code signs an admin in once', async () => {
    const cwd = folder()
    const first = await serve(cwd)
    const code = /#code=([0-9a-f]+)/.exec(first.output())![1]!
    const exchange = () =>
      fetch(`${first.address}/api/v1/session`, {
        method: 'POST',
        headers: { ...json, 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ code }),
      })
    const signed = await exchange()
    expect(signed.status).toBe(204)
    expect((await exchange()).status).toBe(401)
    const cookie = signed.headers.get('set-cookie')!.split(';', 1)[0]!
    const jobs = await fetch(`${first.address}/api/v1/jobs`, { headers: { cookie } })
    expect(jobs.status).toBe(200)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    const second = await serve(cwd)
    expect(second.output()).not.toContain('#code=')
  })

  it('runs handlers of its configuration file, and finishes them when told to stop', async () => {
    const cwd = folder()
    writeFileSync(
      join(cwd, 'carillon.config.mjs'),
      `import { appendFileSync, existsSync } from 'node:fs'
       export default {
         slots: 2,
         handlers: {
           slow: async () => {
             appendFileSync('log', 'begun\\n')
             while (!existsSync('go')) await new Promise(resolve => setTimeout(resolve, 20))
             appendFileSync('log', 'done\\n')
           },
         },
       }`,
    )
    const service = await serve(cwd)
    expect(service.output()).toContain('2 at once')
    const authorization = `Bearer ${run(cwd, ['token', '--role', 'admin']).stdout.trim()}`
    const post = (body: object) =>
      fetch(`${service.address}/api/v1/jobs`, {
        method: 'POST',
        headers: { ...json, authorization },
        body: JSON.stringify(body),
      })
    expect((await post({ handler: 'unheard-of' })).status).toBe(400)
    const { id } = (await (await post({ handler: 'slow' })).json()) as Wire
    const status = async () => {
      const got = await fetch(`${service.address}/api/v1/jobs/${id}`, {
        headers: { authorization },
      })
      return ((await got.json()) as Wire).status
    }
    await until(async () => (await status()) === 'running')
    service.child.kill('SIGTERM')
    await until(async () => service.output().includes('stopping'))
    // Still there to be asked while the job comes to its end.
    expect(await status()).toBe('running')
    writeFileSync(join(cwd, 'go'), '')
    expect(await service.ended).toBe(0)
    const next = await serve(cwd)
    const after = await fetch(`${next.address}/api/v1/jobs/${id}`, { headers: { authorization } })
    expect(await after.json()).toMatchObject({ status: 'completed' })
  })

  it('S6 says whose commands run and what they can read, and forgets its secrets', async () => {
    const cwd = folder()
    writeFileSync(
      join(cwd, 'carillon.config.mjs'),
      `import { renameSync, writeFileSync } from 'node:fs'
       export default { handlers: { look: () => {
         writeFileSync('names.part', Object.keys(process.env).join(' '))
         renameSync('names.part', 'names')
       } } }`,
    )
    const env = { CARILLON_JWT_SECRET: SERVE_SECRET, CARILLON_SECRET_API: 'kept' }
    const service = await serve(cwd, { args: ['--allow-commands', 'acme'], env })
    expect(service.output()).toContain(
      'commands allowed for admins of every tenant, tenant acme: they can read everything the ' +
        'user of this service can, see --command-user',
    )
    const call = await callAt(service)
    expect((await call('POST', '/api/v1/jobs', { handler: 'look' })).status).toBe(201)
    const names = join(cwd, 'names')
    await eventually('it ran', () => (existsSync(names) ? true : null))
    const text = readFileSync(names, 'utf8')
    expect(text).toContain('CARILLON_SECRET_API')
    expect(text).not.toContain('CARILLON_JWT_SECRET')
  })

  it('ends at once at the second signal', async () => {
    const cwd = folder()
    writeFileSync(
      join(cwd, 'carillon.config.mjs'),
      'export default { handlers: { hang: () => new Promise(() => {}) } }',
    )
    const service = await serve(cwd)
    const authorization = `Bearer ${run(cwd, ['token', '--role', 'admin']).stdout.trim()}`
    const made = await fetch(`${service.address}/api/v1/jobs`, {
      method: 'POST',
      headers: { ...json, authorization },
      body: JSON.stringify({ handler: 'hang' }),
    })
    const { id } = (await made.json()) as Wire
    await until(async () => {
      const got = await fetch(`${service.address}/api/v1/jobs/${id}`, {
        headers: { authorization },
      })
      return ((await got.json()) as Wire).status === 'running'
    })
    service.child.kill('SIGTERM')
    await until(async () => service.output().includes('stopping'))
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(130)
  })
})

describe('what is refused before anything starts', () => {
  it('U8 J8 tells every problem at once and ends with 2', () => {
    const env = {
      CARILLON_HOST: '0.0.0.0',
      CARILLON_PORT: '99999',
      CARILLON_SLOTS: 'many',
    }
    const { status, stderr } = run(folder(), ['serve'], env)
    expect(status).toBe(2)
    for (const name of Object.keys(env)) expect(stderr).toContain(name)
    const weak = run(folder(), ['serve'], { CARILLON_JWT_SECRET: 'secret' })
    expect(weak.status).toBe(2)
    expect(weak.stderr).toContain('at least 32 bytes')
  })

  it('a token for every tenant is for admins, and a secret of others cannot be signed with', () => {
    const wide = run(folder(), ['token', '--tenant', '*', '--ttl', 'soon'])
    expect(wide.status).toBe(2)
    expect(wide.stderr).toContain('--tenant')
    expect(wide.stderr).toContain('--ttl')
    const env = {
      CARILLON_JWKS_URL: 'https://id.example/keys',
      CARILLON_JWT_ISSUER: 'https://id.example',
    }
    expect(run(folder(), ['token'], env).stderr).toContain('identity provider')
  })

  it('an unknown command or flag ends with 2, help with 0', () => {
    expect(run(folder(), ['dance']).status).toBe(2)
    expect(run(folder(), ['serve', '--jwt-secret', 'x']).status).toBe(2)
    const help = run(folder(), ['serve', '--help'])
    expect(help.status).toBe(0)
    expect(help.stdout).toContain('--allow-commands')
  })
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  await eventually('what the service is to do', async () => ((await holds()) ? true : null))
}
