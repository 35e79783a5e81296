// S3: turns nest. Tenants first, then the users of each; rules of users count inside their tenant.

import { describe, expect, it } from 'vitest'
import { spansOfTenant } from '../../../src/core/fairness/lane.ts'
import type { ClaimRequest } from '../../../src/store/port.ts'
import { claimIds, claimRequest, job, T0 } from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'
import { fill, rule, served } from './lanes.ts'

const plain = { hasLimits: false }
const everyTenant = { laneScope: { scope: '*', lanes: null } }
const forms: [string, Partial<ClaimRequest>][] = [
  ['plain claims', plain],
  ['claims with rules', {}],
  ['claims of workers of every tenant', everyTenant],
]

export function tenantTurnTests(bench: UseBench): void {
  describe.each(forms)('S3: %s', (_, form) => {
    turnTests(bench, form)
  })
  describe('S3: rules of tenants and users', () => {
    ruleTests(bench)
  })
  describe('S3: workers of every tenant', () => {
    scopeTests(bench)
  })
  describe('S3: shares of what a node holds', () => {
    shareTests(bench)
  })
}

function turnTests(bench: UseBench, form: Partial<ClaimRequest>): void {
  it('serve tenants in turn, whatever the number of their users, one by one', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 's/c', 't/x'], 6)
    expect(await served(store, 9, form)).toBe('axbxcxaxb')
  })

  it('serve tenants in turn, whatever the number of their users, in one claim', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 's/c', 't/x', 'u'], 4)
    expect(await served(store, 1, { ...form, limit: 7 })).toBe('axubxuc')
    expect(await served(store, 1, { ...form, limit: 6 })).toBe('xuaxub')
  })

  it('give a tenant its half beside 300 users of another', async () => {
    const { store } = bench()
    const users = Array.from({ length: 300 }, (_, i) => `s/u${i}`)
    await put(store, ...users.map((lane, i) => job(`s-${i}`, { lane })))
    await fill(store, ['t'], 100)
    const names = await served(store, 10, { ...form, limit: 20 })
    expect(names.replaceAll('s', '')).toHaveLength(100)
    const next = await served(store, 100, form)
    expect(next).toBe('s'.repeat(100))
  })

  it('go on among the users of a tenant where they stopped, alone or not', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 's/c'], 9)
    expect(await served(store, 1, { ...form, limit: 4 })).toBe('abca')
    await fill(store, ['t/x'], 2)
    expect(await served(store, 4, form)).toBe('xbxc')
    expect(await served(store, 4, form)).toBe('abca')
  })

  nameTests(bench, form)
}

function nameTests(bench: UseBench, form: Partial<ClaimRequest>): void {
  it('know the users of a tenant from tenants with similar names', async () => {
    const { store } = bench()
    const lanes = ['m-x', 'm/a', 'm0', 'z/y', 'm.b/c', 'm-x-/q']
    await fill(store, lanes, 3)
    // By name: m, m-x, m-x-, m.b, m0, z.
    expect(await served(store, 8, form)).toBe('amqcm0yam')
    expect(await served(store, 1, { ...form, limit: 6 })).toBe('qcm0yam')
  })

  it('serve the tenant itself beside its users', async () => {
    const { store } = bench()
    await fill(store, ['s', 's/a', 't'], 4)
    expect(await served(store, 8, form)).toBe('statstat')
  })

  it('find the users of a tenant in the lines of several handlers', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 't/x'], 2)
    const later = { handler: 'other' }
    await put(store, job('b-1', { lane: 's/b', ...later }), job('y-1', { lane: 't/y', ...later }))
    const more = { ...form, handlers: ['work', 'other'] }
    expect(await served(store, 1, { ...more, limit: 5 })).toBe('axbya')
  })
}

function ruleTests(bench: UseBench): void {
  it('lets weights of users count inside their tenant only', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 8)
    await rule(store, 's/a', { weight: 3 })
    expect(await served(store, 10)).toBe('axaxaxbxax')
  })

  it('gives a tenant as many turns in a row as its weight, to its users in turn', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 8)
    await rule(store, 's', { weight: 3 })
    expect(await served(store, 9)).toBe('abaxbabxa')
    expect(await served(store, 1, { limit: 6 })).toBe('baxbab')
  })

  it('holds all users of a tenant together to its caps, over all queues and scopes', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 4)
    await put(store, job('c-1', { lane: 's/c', queue: 'q' }))
    await rule(store, 's', { runningMax: 3 })
    expect(await served(store, 1, { queue: 'q' })).toBe('c')
    expect(await served(store, 1, { limit: 9 })).toBe('axbxxx')
    const laneScope = { scope: 's', lanes: { tenant: 's', spans: spansOfTenant('s') } }
    expect(await served(store, 1, { limit: 9, laneScope })).toBe('')
  })

  it('starts no more of a tenant than its rate', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b'], 9)
    await rule(store, 's', { rate: { count: 3, perMs: 60_000 } })
    expect(await served(store, 1, { limit: 8 })).toBe('aba')
    expect(await served(store, 1, { limit: 8, now: T0 + 20_000 })).toBe('b')
  })

  it('lets a user at its cap leave the turn of the tenant to the others', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 4)
    await rule(store, 's/a', { runningMax: 1 })
    expect(await served(store, 1, { limit: 8 })).toBe('axbxbxbx')
  })
}

function scopeTests(bench: UseBench): void {
  it('gives overlapping claims of a worker of every tenant exact turns', async () => {
    const { store } = bench()
    const lanes = ['s/a', 's/b', 't/x', 't/y', 'u/z']
    await fill(store, lanes, 12)
    const taken = new Map<string, number>()
    for (let round = 0; round < 6; round++) {
      const claims = Array.from({ length: 4 }, (_, i) =>
        store.claim(claimRequest({ now: T0, limit: 1, ...everyTenant, token: `t-${round}-${i}` })),
      )
      for (const [claimed] of await Promise.all(claims)) {
        const { lane } = claimed!.spec
        taken.set(lane, (taken.get(lane) ?? 0) + 1)
      }
    }
    expect(Object.fromEntries(taken)).toEqual({
      's/a': 4,
      's/b': 4,
      't/x': 4,
      't/y': 4,
      'u/z': 8,
    })
  })

  it('leaves the turn of nodes to nodes', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 6)
    expect(await served(store, 2, plain)).toBe('ax')
    expect(await served(store, 3, everyTenant)).toBe('axb')
    expect(await served(store, 2, plain)).toBe('bx')
  })
}

function shareTests(bench: UseBench): void {
  it('gives each tenant what is left of its share', async () => {
    const { store } = bench()
    await fill(store, ['s/a', 's/b', 't/x'], 9)
    const shares = { most: 4, held: { s: 2, t: 4 } }
    expect(await claimIds(store, T0, { limit: 9, shares })).toEqual(['a-0', 'b-0'])
    expect(await served(store, 1, { limit: 9, shares: { most: 3, held: { s: 1 } } })).toBe('xaxbx')
  })
}
