// A Redis store in a namespace of its own on the server the tests of one run share.

import { systemClock } from '../../src/runtime/clock.ts'
import { addressOf } from '../../src/store/redis/address.ts'
import { connect, type Link } from '../../src/store/redis/client.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { freshPlace } from './servers/shared.ts'
import { skipTest } from './skip.ts'
import { opened, type OpenStore } from './stores.ts'

export const openRedis: OpenStore = async clock => {
  const place = await freshPlace('redis')
  if ('missing' in place) skipTest(place.missing)
  return opened(
    () => new RedisStore({ url: place.url, clock, after: systemAfter, listens: false }),
    () => removeNamespace(place.url),
    place.url,
  )
}

export const systemAfter = (ms: number, callback: () => void) => systemClock.after(ms, callback)

/** Plain words to the server of a store, on a connection of its own. */
export async function linkTo(url: string): Promise<Link> {
  const address = addressOf(url)
  const slotKey = `{${address.namespace}}:meta`
  const { signal } = new AbortController()
  return connect({ address, slotKey, signal, connectMs: 5_000, onLost: () => {} })
}

/** In steps, so that the server answers other tests in between. */
async function removeNamespace(url: string): Promise<void> {
  const { namespace } = addressOf(url)
  const link = await linkTo(url)
  let cursor = '0'
  do {
    const words = ['SCAN', cursor, 'MATCH', `{${namespace}}:*`, 'COUNT', '1000']
    const [next, keys] = (await link.send(words)) as [string, string[]]
    if (keys.length > 0) await link.send(['UNLINK', ...keys])
    cursor = next
  } while (cursor !== '0')
  link.destroy()
}
