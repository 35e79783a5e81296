// S4: names are looked up as the system would, in bounded time, and tenants do not wait for each other.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { forTenant, Lookups, systemResolver } from '../../src/actions/guard/lookups.ts'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { eventually } from '../support/servers/wait.ts'
import { startNameServer, type Answer } from '../support/name-server.ts'
import { allow } from './node.ts'
import { site } from './site.ts'

/** Gives up twenty times sooner. */
const hasty: Clock = {
  ...systemClock,
  after: (ms, callback) => systemClock.after(ms / 20, callback),
}

async function setup(
  names: Record<string, Answer>,
  files: { hosts?: string; resolv?: string } = {},
) {
  const server = await startNameServer(name => names[name] ?? 'none')
  const folder = mkdtempSync(join(tmpdir(), 'lookups-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [hostsPath, resolvConfPath] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
  writeFileSync(hostsPath, files.hosts ?? '')
  writeFileSync(resolvConfPath, files.resolv ?? 'search .')
  const servers = [server.address]
  const lookups = new Lookups({ clock: hasty, servers, hostsPath, resolvConfPath })
  const addresses = async (name: string) => (await lookups.resolve(name)).map(one => one.address)
  return { server, lookups, addresses, hostsPath }
}

const codeOf = (lookup: Promise<unknown>) =>
  lookup.then(
    () => 'found',
    (error: unknown) => (error as { code: string }).code,
  )

describe('S4: a lookup', () => {
  it('asks the hosts file first, as it is now', async () => {
    const { server, addresses, hostsPath } = await setup(
      { 'db.test': ['10.0.0.9'] },
      { hosts: '10.0.0.1 db.test other.test' },
    )
    expect(await addresses('DB.test')).toEqual(['10.0.0.1'])
    expect(await addresses('localhost')).toEqual(['127.0.0.1', '::1'])
    expect(server.asked).toEqual([])
    writeFileSync(hostsPath, '# empty')
    expect(await addresses('db.test')).toEqual(['10.0.0.9'])
  })

  it('completes short names as compose and Kubernetes want it', async () => {
    const { server, addresses } = await setup(
      { 'db.shop.svc.cluster.local': ['10.1.0.7'], 'api.example.com': ['93.184.216.34'] },
      { resolv: 'search shop.svc.cluster.local svc.cluster.local\noptions ndots:5' },
    )
    expect(await addresses('db')).toEqual(['10.1.0.7'])
    expect(await addresses('api.example.com')).toEqual(['93.184.216.34'])
    expect([...new Set(server.asked)]).toEqual([
      'db.shop.svc.cluster.local',
      'api.example.com.shop.svc.cluster.local',
      'api.example.com.svc.cluster.local',
      'api.example.com',
    ])
  })

  it('tells a name that does not exist from one nobody can say anything about', async () => {
    const { server, lookups } = await setup({ 'odd.test': 'failure' })
    expect(await codeOf(lookups.resolve('gone.test'))).toBe('ENOTFOUND')
    expect(await codeOf(lookups.resolve('odd.test'))).toBe('EAI_AGAIN')
    const before = server.asked.length
    expect(await codeOf(lookups.resolve('gone.test'))).toBe('ENOTFOUND')
    expect(server.asked.length).toBe(before)
  })

  it('that is never answered delays neither other tenants nor, but for its share, its own', async () => {
    const hanging = Array.from({ length: 40 }, (_, i) => `hang${i}.test`)
    const silent = hanging.map(name => [name, 'silence'] as const)
    const { server, lookups } = await setup({
      ...Object.fromEntries(silent),
      'good.test': ['93.184.216.34'],
    })
    const given = hanging.map(name => forTenant('evil', () => codeOf(lookups.resolve(name))))
    await eventually('the share is used', () => new Set(server.asked).size >= 16 || null)
    const found = await forTenant('innocent', () => lookups.resolve('good.test'))
    expect(found).toEqual([{ address: '93.184.216.34', family: 4 }])
    expect(new Set(server.asked).size).toBe(17)
    // All of them end, those that never got a turn too.
    expect(new Set(await Promise.all(given))).toEqual(new Set(['EAI_AGAIN']))
  })

  it('S3: by the threads of the system leaves half of them to other tenants', async () => {
    const underWay: string[] = []
    const ask = (host: string) => {
      if (host === 'good.test') return Promise.resolve([{ address: '93.184.216.34', family: 4 }])
      underWay.push(host)
      return new Promise<never>(() => {})
    }
    const resolve = systemResolver(hasty, { ask, threads: 8 })
    const names = Array.from({ length: 20 }, (_, i) => `hang${i}.test`)
    const given = names.map(name => forTenant('evil', () => codeOf(resolve(name))))
    const found = await forTenant('innocent', () => resolve('good.test'))
    expect(found).toEqual([{ address: '93.184.216.34', family: 4 }])
    expect(new Set(await Promise.all(given))).toEqual(new Set(['EAI_AGAIN']))
    // Their threads are still busy: nobody of the same tenant gets another one.
    expect(underWay).toEqual(['hang0.test', 'hang1.test'])
    expect(await forTenant('evil', () => codeOf(resolve('more.test')))).toBe('EAI_AGAIN')
    expect(await forTenant('innocent', () => codeOf(resolve('good.test')))).toBe('found')
  })

  it('is what is checked and dialled: an internal address is refused on every connection', async () => {
    const web = await site((_, response) => response.end('secret'))
    const names: Record<string, Answer> = { 'flips.test': ['93.184.216.34'] }
    const server = await startNameServer(name => names[name] ?? 'none')
    const refused: string[] = []
    const outbound = new Outbound({
      clock: systemClock,
      allow: allow(`*:${web.port}`),
      dns: [server.address],
      limits: { connectMs: 200 },
      onRefused: ({ host, address }) => refused.push(`${host} ${address}`),
    })
    onTestFinished(() => outbound.close())
    const ask = () => outbound.request({ url: `http://flips.test:${web.port}/` })
    names['flips.test'] = ['127.0.0.1']
    await expect(ask()).rejects.toThrow('cannot be reached or is not allowed')
    names['flips.test'] = ['93.184.216.34', '127.0.0.1']
    await expect(ask()).rejects.toThrow('cannot be reached or is not allowed')
    expect(refused).toEqual(['flips.test 127.0.0.1', 'flips.test 127.0.0.1'])
    expect(web.asked).toEqual([])
  })
})
