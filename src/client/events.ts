// What happens, as it happens: server-sent events as an async iterator that takes itself up again
// where the stream broke off.

import { wait } from './ambient.ts'
import { CarillonError, UnreachableError } from './error.ts'
import type { CallOptions, FetchAnswer, Transport } from './transport.ts'

export type Topic = 'run' | 'job' | 'counts' | 'progress' | 'log'

export interface EventOptions extends CallOptions {
  readonly topics?: readonly Topic[]
  readonly job?: string
  /** Goes on behind this event. */
  readonly after?: string
  /** Give up instead of connecting again. Default false. */
  readonly isOnce?: boolean
}

export interface CarillonEvent {
  /** To go on from; null where there is nothing to go on from. */
  readonly id: string | null
  /** Such as `run.finished`; `hello`, `resync` and `end` are about the stream itself. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const BACKOFF_MS = 500
const BACKOFF_MAX_MS = 15_000
/** A comment comes every 15 seconds: silence for this long is a lost connection. */
const SILENT_MS = 45_000

export async function* events(
  transport: Transport,
  { topics, job, after, isOnce = false, ...call }: EventOptions,
): AsyncGenerator<CarillonEvent, void> {
  let place = after
  let pause = BACKOFF_MS
  for (;;) {
    try {
      const response = await transport.send({
        ...call,
        method: 'GET',
        path: '/api/v1/events',
        query: { topics: topics?.join(','), job, after: place },
        headers: { ...call.headers, accept: 'text/event-stream' },
        isStream: true,
      })
      for await (const event of read(response)) {
        pause = BACKOFF_MS
        place = event.id ?? place
        yield event
        if (event.type === 'end' && event.data['reason'] === 'unauthorized') return
      }
      if (isOnce) return
    } catch (error) {
      call.signal?.throwIfAborted()
      // Asked in another way it would be refused again.
      const isFinal = error instanceof CarillonError && error.status < 500 && error.status !== 429
      if (isOnce || isFinal) throw error
    }
    await wait(pause, call.signal)
    call.signal?.throwIfAborted()
    pause = Math.min(BACKOFF_MAX_MS, pause * 2)
  }
}

async function* read(response: FetchAnswer): AsyncGenerator<CarillonEvent, void> {
  if (response.body === null) throw new UnreachableError('the stream has no body')
  yield* eventsIn(chunksOf(response.body.getReader()))
}

async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done, value } = await soon(reader.read())
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The events of a stream that arrives in pieces. */
export async function* eventsIn(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<CarillonEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split(/\r?\n\r?\n/)
    text = frames.pop()!
    for (const frame of frames) {
      const event = eventOf(frame)
      if (event !== null) yield event
    }
  }
}

async function soon<T>(reading: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const silence = wait(SILENT_MS, stop.signal).then(() => {
    if (!stop.signal.aborted) throw new UnreachableError('the stream fell silent')
    return reading
  })
  try {
    return await Promise.race([reading, silence])
  } finally {
    stop.abort()
  }
}

/** Null for comments and what sets the stream up. */
function eventOf(frame: string): CarillonEvent | null {
  let id: string | null = null
  let type = ''
  let data = ''
  for (const line of frame.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const value = line.slice(colon + 1).replace(/^ /, '')
    if (line.startsWith('id:')) id = value
    else if (line.startsWith('event:')) type = value
    else if (line.startsWith('data:')) data += value
  }
  return type === '' ? null : { id, type, data: JSON.parse(data) as Record<string, unknown> }
}
