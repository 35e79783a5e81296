// Which route of a desk a path means, and which mean none.

import type { RouteOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { RouteTable } from './table.ts'

const config = { access: 'viewer' } as const

function tableOf(...routes: readonly string[]): RouteTable {
  const table = new RouteTable()
  for (const route of routes) {
    const [method, url] = route.split(' ') as ['GET', string]
    table.app.route({ method, url, config, handler: async () => null })
  }
  return table
}

describe('a table of routes', () => {
  const table = tableOf('GET /jobs', 'GET /jobs/:id', 'POST /jobs/:id/:verb', 'POST /jobs/:id/run')

  it.each([
    ['GET', '/jobs', '/jobs', {}],
    ['GET', '/jobs/', '/jobs', {}],
    ['GET', '/jobs/a%2Fb', '/jobs/:id', { id: 'a/b' }],
    ['GET', '/jobs/a%20b/', '/jobs/:id', { id: 'a b' }],
    ['POST', '/jobs/a/run', '/jobs/:id/run', { id: 'a' }],
    ['POST', '/jobs/a/stop', '/jobs/:id/:verb', { id: 'a', verb: 'stop' }],
  ])('finds %s %s', (method, path, url, params) => {
    const found = table.find(method, path)
    expect([found?.route.url, found?.params]).toEqual([url, params])
  })

  it.each([
    ['PUT', '/jobs'],
    ['GET', '/Jobs'],
    ['GET', '/jobs//'],
    ['GET', '/jobs/a/b'],
    ['POST', '/jobs//run'],
  ])('does not find %s %s', (method, path) => {
    expect(table.find(method, path)).toBeNull()
  })

  it.each([['/jobs/%E0%A4%A'], [`/jobs/${'x'.repeat(501)}`]])(
    'says of %s that it is not there',
    path => {
      expect(() => table.find('GET', path)).toThrow('no such resource')
    },
  )

  it('takes no route that does not say who may use it', () => {
    const silent = { method: 'GET', url: '/secrets', handler: async () => null } as RouteOptions
    expect(() => new RouteTable().app.route(silent)).toThrow('who may use it')
  })

  it('does at its end what routes asked for, once', async () => {
    const told: string[] = []
    const own = new RouteTable()
    own.app.addHook('preClose', async () => void told.push('closing'))
    own.app.addHook('onListen', async () => void told.push('listening'))
    await own.close()
    await own.close()
    expect(told).toEqual(['closing'])
  })
})
