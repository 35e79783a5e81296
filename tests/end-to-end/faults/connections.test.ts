// Connections that are cut under a call: the call says so, the process lives, the next call works.

import { describe, expect, test } from 'vitest'
import { openStore } from '../../../src/compose.ts'
import { SchedulerError } from '../../../src/core/errors.ts'
import type { Store } from '../../../src/store/port.ts'
import type { ServerKind } from '../../support/servers/binaries.ts'
import { FaultProxy } from '../../support/servers/proxy.ts'
import { freshPlace } from '../../support/servers/shared.ts'
import { eventually } from '../../support/servers/wait.ts'

const ROUNDS = 30
const kinds: readonly ServerKind[] = ['postgres', 'redis']

const works = (store: Store) =>
  eventually('the store answers again', async () => ((await store.now()) > 0 ? true : null), 20_000)

/** Many at once, so that some are waiting, some under way and some answered. */
async function answers(store: Store): Promise<unknown[]> {
  const calls = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? store.now() : store.counts()))
  const settled = await Promise.allSettled(calls)
  return settled.flatMap(one => (one.status === 'rejected' ? [one.reason as unknown] : []))
}

describe.each(kinds)('a cut connection to %s', async kind => {
  const place = await freshPlace(kind)
  const isMissing = 'missing' in place

  async function throughProxy(body: (store: Store, proxy: FaultProxy) => Promise<void>) {
    if (isMissing) return
    const { hostname, port } = new URL(place.url)
    const proxy = await FaultProxy.to({ host: hostname, port: Number(port) })
    const options = { now: () => Date.now(), listens: true }
    const store = await openStore(proxy.through(place.url), options)
    try {
      await body(store, proxy)
    } finally {
      await proxy.set({ kind: 'pass' })
      await store.close()
      await proxy.close()
      await place.clean()
    }
  }

  test.skipIf(isMissing)('is an answer like any other', async () => {
    await throughProxy(async (store, proxy) => {
      const failures: unknown[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const asked = answers(store)
        if (round % 3 === 0) proxy.cutReplies(2)
        else setTimeout(() => proxy.reset(), round % 5)
        failures.push(...(await asked))
        await works(store)
      }
      expect(failures.length).toBeGreaterThan(0)
      const strange = failures.filter(
        error => !(error instanceof SchedulerError && error.code === 'STORE_UNAVAILABLE'),
      )
      expect(strange).toEqual([])
    })
  })

  test.skipIf(isMissing)('and a server that is away are got over', async () => {
    await throughProxy(async (store, proxy) => {
      await proxy.set({ kind: 'refuse' })
      expect(await answers(store)).toHaveLength(8)
      await proxy.set({ kind: 'pass' })
      await works(store)
    })
  })
})
