// What happens in a store of this machine, read from the same stream that a service sends.

import { eventsIn, type CarillonEvent, type EventOptions } from '../../client/events.ts'
import type { LocalService } from '../../service/local.ts'
import { checkPart } from '../../service/use-cases/call/input.ts'
import { refusalOf } from './local-refusal.ts'

function refuse(error: unknown): never {
  throw refusalOf(error)
}

/** Goes on until its caller has enough; ends when the target is closed. */
export async function* localEvents(
  service: LocalService,
  { topics, job, after, signal }: EventOptions = {},
): AsyncGenerator<CarillonEvent, void> {
  const { eventQuery, hubs, subscribe } =
    await import('../../service/use-cases/events/subscribe.ts')
  signal?.throwIfAborted()
  const call = service.call()
  service.atEnd(() => hubs.drop(call.engine)?.close())
  const asked = { topics: topics?.join(','), job, after }
  const open = async () =>
    subscribe(call, checkPart(eventQuery, asked, 'query') as Parameters<typeof subscribe>[1])
  const { stream } = await service.refusing(call, undefined, open).catch(refuse)
  const stop = () => void stream.destroy(signal?.reason as Error)
  signal?.addEventListener('abort', stop)
  try {
    yield* eventsIn(stream)
  } finally {
    signal?.removeEventListener('abort', stop)
    stream.destroy()
  }
}
