// A cluster: all keys of a namespace lie in one slot, whichever node was named.

import { describe, expect, it } from 'vitest'
import { T0, claimRequest, job, readAll, succeeded } from '../../../tests/support/builders.ts'
import { systemAfter } from '../../../tests/support/redis.ts'
import { freePort } from '../../../tests/support/servers/ports.ts'
import { askRedis, startRedis, type RedisServer } from '../../../tests/support/servers/redis.ts'
import { eventually } from '../../../tests/support/servers/wait.ts'
import { beforeAllWith } from '../../../tests/support/skip.ts'
import { settle } from '../../core/run/settle.ts'
import { RedisStore } from './store.ts'

const shares = [
  ['0', '5460'],
  ['5461', '10922'],
  ['10923', '16383'],
] as const

let nodes: { server: RedisServer; bus: number }[] = []

async function startNode() {
  // By itself the bus would be 10,000 above the port, where there may be none.
  const bus = await freePort()
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': bus }
  return { server: await startRedis({ settings }), bus }
}

beforeAllWith('redis', async () => {
  nodes = await Promise.all([startNode(), startNode(), startNode()])
  for (const [i, { server }] of nodes.entries()) {
    await askRedis(server.url, 'CLUSTER', 'ADDSLOTSRANGE', ...shares[i]!)
    const { server: first, bus } = nodes[0]!
    const place = ['127.0.0.1', String(first.port), String(bus)]
    if (i > 0) await askRedis(server.url, 'CLUSTER', 'MEET', ...place)
  }
  for (const { server } of nodes) {
    await eventually('the cluster is one', async () => {
      const info = String(await askRedis(server.url, 'CLUSTER', 'INFO'))
      const isWhole = info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')
      return isWhole ? true : null
    })
  }
  return async () => {
    for (const { server } of nodes) await server.stop()
  }
})

describe('in a cluster', () => {
  it.each([0, 1, 2])(
    'jobs are inserted, claimed, settled and heard of, by node %i',
    async index => {
      const url = `${nodes[index]!.server.url}?namespace=cluster-${index}`
      const options = { url, clock: () => T0, after: systemAfter }
      const store = new RedisStore(options)
      const other = new RedisStore(options)
      await store.open()
      await other.open()
      let heard = 0
      other.listen({ onWake: () => heard++ })
      const hint = async () => {
        await store.setQueuePaused('x', true)
        await store.setQueuePaused('x', false)
        return heard > 0 ? true : null
      }
      await eventually('a hint', hint)
      await store.insert([job('a'), job('b', { lane: 'l' })], { now: T0 })
      const claimed = await other.claim(claimRequest({ limit: 9 }))
      expect(claimed.map(held => held.id)).toEqual(['a', 'b'])
      const steps = claimed.map(held => settle(held, { outcome: succeeded, startedAt: T0 }, T0))
      expect((await other.commit(steps, { now: T0 })).results).toEqual(['committed', 'committed'])
      expect(await readAll(page => store.attempts({}, page))).toHaveLength(2)
      expect(await store.remove(['a', 'b'])).toEqual([true, true])
      await store.close()
      await other.close()
    },
  )

  it('a lost channel counts as a hint when it is back: nobody knows what was missed', async () => {
    const url = `${nodes[0]!.server.url}?namespace=cluster-channel`
    const store = new RedisStore({ url, clock: () => T0, after: systemAfter })
    await store.open()
    let heard = 0
    store.listen({ onWake: () => heard++ })
    await eventually('the end of the channel', async () => {
      const killed = nodes.map(({ server }) =>
        askRedis(server.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub'),
      )
      return (await Promise.all(killed)).some(count => count !== 0) ? true : null
    })
    heard = 0
    expect(await eventually('a hint', () => (heard > 0 ? true : null))).toBe(true)
    await store.close()
  })
})
