// The stream of events as one connection reads it: opened with fetch, taken up again where it ended.

import { after } from '../clock.ts'
import { base } from '../href.ts'
import { isSignedOut } from './api.ts'

export interface LiveEvent {
  readonly id: string | null
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export type LinkState = 'connecting' | 'live' | 'away'

export interface Reader {
  readonly topics: () => string
  readonly lastEventId: () => string | null
  readonly onEvent: (event: LiveEvent) => void
  readonly onState: (state: LinkState) => void
}

const WAIT_MS = 1_000
const WAIT_MAX_MS = 15_000

/** Reads until aborted; comes back after failures, a little later each time. */
export async function readStream(reader: Reader, signal: AbortSignal): Promise<void> {
  let waitMs = WAIT_MS
  while (!signal.aborted && !isSignedOut.value) {
    reader.onState('connecting')
    try {
      await readOnce(reader, signal, () => {
        waitMs = WAIT_MS
      })
    } catch {
      // Said by the state below: the service is away or refuses for now.
    }
    if (signal.aborted) return
    reader.onState('away')
    await pause(waitMs, signal)
    waitMs = Math.min(waitMs * 2, WAIT_MAX_MS)
  }
}

async function readOnce(reader: Reader, signal: AbortSignal, onOpen: () => void): Promise<void> {
  const query = new URLSearchParams({ topics: reader.topics() })
  const lastEventId = reader.lastEventId()
  if (lastEventId !== null) query.set('after', lastEventId)
  const response = await fetch(`${base}/api/v1/events?${query}`, {
    signal,
    credentials: 'same-origin',
    headers: { Accept: 'text/event-stream' },
  })
  if (response.status === 401) isSignedOut.value = true
  if (!response.ok || response.body === null) throw new Error(`refused with ${response.status}`)
  onOpen()
  reader.onState('live')
  const decoder = new TextDecoder()
  const chunks = response.body.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await chunks.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      const event = parseFrame(frame)
      if (event !== null) reader.onEvent(event)
    }
  }
}

/** Null for comments and for hints about reconnecting. */
export function parseFrame(frame: string): LiveEvent | null {
  let id: string | null = null
  let type = ''
  let data = ''
  for (const line of frame.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('event: ')) type = line.slice(7)
    else if (line.startsWith('data: ')) data += line.slice(6)
  }
  if (type === '' || data === '') return null
  return { id, type, data: JSON.parse(data) as Record<string, unknown> }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const cancel = after(ms, resolve)
    signal.addEventListener(
      'abort',
      () => {
        cancel()
        resolve()
      },
      { once: true },
    )
  })
}
