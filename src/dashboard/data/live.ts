// What happens, as it happens: one connection for all tabs of a browser. The tab that holds the lock
// reads the stream and passes every event on; the others listen.

import { signal } from '@preact/signals'
import { after, learnTime, now } from '../clock.ts'
import { base } from '../href.ts'
import { readStream, type LinkState, type LiveEvent } from './live-channel.ts'

export type { LiveEvent } from './live-channel.ts'

type Message =
  | { readonly kind: 'event'; readonly event: LiveEvent }
  | { readonly kind: 'state'; readonly state: LinkState; readonly since: number }
  | { readonly kind: 'ask' }
  | { readonly kind: 'want'; readonly topic: string }

const NAME = `carillon${base}:live`
const HIDDEN_MS = 60_000
/** Drawn at most four times a second, however much happens. */
const FLUSH_MS = 250
const RATE_MS = 10_000

export const link = signal<{ readonly state: LinkState; readonly since: number }>({
  state: 'connecting',
  since: now(),
})
export const isLivePaused = signal(false)
/** Moments of the newest events, for the rate on the pill. */
export const recent = signal<readonly number[]>([])

const listeners = new Set<(events: readonly LiveEvent[]) => void>()
const topics = new Set(['run', 'job', 'counts', 'progress'])
let waiting: LiveEvent[] = []
let lastId: string | null = null
let isLeader = false
let stop: AbortController | null = null
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(NAME)
/** To the other tabs. */
const tell = channel === null ? () => {} : channel.postMessage.bind(channel)

/** Batches of events until the returned function is called. */
export function onLive(listener: (events: readonly LiveEvent[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Asks for a topic that is not always read, such as `log`. */
export function wantTopic(topic: string): void {
  publish({ kind: 'want', topic })
}

export function toggleLive(): void {
  isLivePaused.value = !isLivePaused.value
  if (!isLivePaused.value) deliver({ id: null, type: 'resync', data: { reason: 'resumed' } })
}

const heard = ({ data }: MessageEvent) => receive(data as Message)

/** Reads until the returned function is called. */
export function startLive(): () => void {
  channel?.addEventListener('message', heard)
  document.addEventListener('visibilitychange', visibilityChanged)
  addEventListener('pagehide', close)
  open()
  return () => {
    channel?.removeEventListener('message', heard)
    document.removeEventListener('visibilitychange', visibilityChanged)
    removeEventListener('pagehide', close)
    close()
  }
}

let cancelClose: (() => void) | null = null

function visibilityChanged(): void {
  cancelClose?.()
  cancelClose = null
  if (document.visibilityState === 'hidden') cancelClose = after(HIDDEN_MS, close)
  else open()
}

function close(): void {
  stop?.abort()
  stop = null
}

function open(): void {
  if (stop !== null) return
  const mine = new AbortController()
  stop = mine
  publish({ kind: 'ask' })
  if (channel === null || !('locks' in navigator)) {
    void lead(mine.signal)
    return
  }
  // Whoever waits for the lock is told everything by the tab that has it.
  navigator.locks.request(NAME, { signal: mine.signal }, () => lead(mine.signal)).catch(() => {})
}

let restart: AbortController | null = null

async function lead(closed: AbortSignal): Promise<void> {
  isLeader = true
  while (!closed.aborted) {
    // A new topic needs a new connection.
    restart = new AbortController()
    const wanted = [...topics].join(',')
    const reader = {
      topics: () => wanted,
      lastEventId: () => lastId,
      onEvent: (event: LiveEvent) => publish({ kind: 'event', event }),
      onState: (state: LinkState) => setState(state),
    }
    await readStream(reader, AbortSignal.any([closed, restart.signal]))
    if (!restart.signal.aborted) break
  }
  isLeader = false
}

function setState(state: LinkState): void {
  if (link.value.state === state) return
  publish({ kind: 'state', state, since: now() })
}

function publish(message: Message): void {
  tell(message)
  receive(message)
}

function receive(message: Message): void {
  switch (message.kind) {
    case 'event':
      return deliver(message.event)
    case 'state':
      link.value = { state: message.state, since: message.since }
      return
    case 'ask':
      if (isLeader) tell({ kind: 'state', ...link.value })
      return
    case 'want':
      if (topics.has(message.topic)) return
      topics.add(message.topic)
      if (isLeader) restart?.abort()
      return
  }
}

function deliver(event: LiveEvent): void {
  if (event.id !== null) lastId = event.id
  if (event.type === 'hello' && typeof event.data.now === 'string') {
    learnTime(Date.parse(event.data.now))
  }
  const at = now()
  recent.value = [...recent.value.filter(moment => at - moment < RATE_MS), at].slice(-500)
  if (isLivePaused.value) return
  waiting.push(event)
  if (waiting.length === 1) after(FLUSH_MS, flush)
}

function flush(): void {
  const events = waiting
  waiting = []
  for (const listener of listeners) listener(events)
}
