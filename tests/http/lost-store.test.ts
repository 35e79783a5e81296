// A service whose store is lost for a while: requests get 503, and what was acknowledged is there
// when it is back.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callAt, SERVE_SECRET, serveIn, type Call } from '../support/carillon.ts'
import { parseExposition, valueOf } from '../support/exposition.ts'
import { findBinaries } from '../support/servers/binaries.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startRedis } from '../support/servers/redis.ts'
import { eventually } from '../support/servers/wait.ts'

const JOBS = '/api/v1/jobs'
const body = { url: 'https://example.com', source_name: 'x', interval_minutes: 30 }

interface Lossy {
  readonly store: string
  readonly lose: (pid: number) => Promise<void>
  readonly find: (pid: number) => Promise<void>
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'carillon-lost-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** No file of the process may grow beyond so many bytes: to it, the disk is full. */
function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
  if (status !== 0) throw new Error(String(stderr))
  return Promise.resolve()
}

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

const stores: Readonly<Record<string, { isThere: boolean; open: () => Promise<Lossy> }>> = {
  'a SQLite file on a full disk': {
    isThere: hasPrlimit,
    open: async () => ({
      store: `sqlite:${join(folder(), 'jobs.db')}`,
      lose: pid => limitFiles(pid, 4_096),
      find: pid => limitFiles(pid, 'unlimited'),
    }),
  },
  'a PostgreSQL server that was stopped': {
    isThere: findBinaries('postgres') !== null,
    open: async () => {
      const server = await startPostgres()
      onTestFinished(() => server.stop())
      return { store: server.url, lose: () => server.halt(), find: () => server.restart('fast') }
    },
  },
  'a Redis server that was killed': {
    isThere: findBinaries('redis') !== null,
    open: async () => {
      const server = await startRedis({ settings: { appendfsync: 'always' } })
      onTestFinished(() => server.stop())
      return { store: server.url, lose: () => server.kill(), find: () => server.start() }
    },
  },
}

async function create(call: Call, acknowledged: string[]): Promise<number> {
  const { status, body: made } = await call('POST', JOBS, body)
  if (status === 201) acknowledged.push(String(made['id']))
  return status
}

/** The metrics of a real service, once they say so of its store. */
function scrapeUntil(address: string, up: 0 | 1): Promise<string> {
  return eventually(`carillon_store_up ${up}`, async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    const families = parseExposition(text)
    return valueOf(families, 'carillon_store_up') === up ? text : null
  })
}

describe('a store that is lost and found', () => {
  for (const [name, { isThere, open }] of Object.entries(stores)) {
    it.skipIf(!isThere)(
      `${name}: 503, N4 /metrics shows it, then all that was acknowledged`,
      async () => {
        const { store, lose, find } = await open()
        const cwd = folder()
        const env = { CARILLON_JWT_SECRET: SERVE_SECRET }
        const serving = await serveIn(cwd, { env, args: ['--store', store] })
        onTestFinished(() => serving.kill())
        const call = await callAt(serving)
        const { pid } = serving.child
        const acknowledged: string[] = []
        for (let i = 0; i < 5; i++) expect(await create(call, acknowledged)).toBe(201)

        await lose(pid!)
        const refused = await eventually('a refusal', async () => {
          const answer = await call('POST', JOBS, body)
          if (answer.status === 201) acknowledged.push(String(answer.body['id']))
          return answer.status === 201 ? null : answer
        })
        expect(refused.status).toBe(503)
        expect(refused.body).toMatchObject({ type: '/problems/unavailable' })
        expect((await fetch(`${serving.address}/healthz`)).status).toBe(200)
        // A full disk can still be read.
        const isGone = !store.startsWith('sqlite:')
        if (isGone)
          expect(await scrapeUntil(serving.address, 0)).not.toContain('carillon_queue_due')

        await find(pid!)
        await eventually('it works again', async () =>
          (await create(call, acknowledged)) === 201 ? true : null,
        )
        const listed = await call('GET', `${JOBS}?limit=250`)
        const ids = (listed.body['jobs'] as { id: string }[]).map(({ id }) => id)
        expect(acknowledged.filter(id => !ids.includes(id))).toEqual([])
        await eventually('it is ready', async () =>
          (await fetch(`${serving.address}/readyz`)).status === 200 ? true : null,
        )
        expect(await scrapeUntil(serving.address, 1)).toContain(
          'carillon_queue_due{queue="default"}',
        )
      },
    )
  }
})
