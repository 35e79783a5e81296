// Reading from the service: what is on the screen is read once, kept, shown again at once, and read
// anew when events say that it changed.

import { signal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { after, now } from '../clock.ts'
import { call, type Url } from './api.ts'
import { onLive, type LiveEvent } from './live.ts'
import { problemFrom, type ApiProblem } from './problem.ts'

interface State<T> {
  readonly data: T | undefined
  readonly problem: ApiProblem | null
  readonly isLoading: boolean
  readonly etag: string | null
  /** When the data came. */
  readonly at: number
}

interface CachedAnswer {
  readonly state: Signal<State<unknown>>
  readonly users: Map<symbol, Concerns>
  isAsking: boolean
  isStale: boolean
  askedAt: number
}

export type Concerns = (event: LiveEvent) => boolean

export interface Read<T> extends State<T> {
  /** The data is that of the question before, until the answer comes. */
  readonly isOld: boolean
  readonly reload: () => void
}

const CACHED_MAX = 100
const GAP_MS = 1_000
const nothing: State<never> = {
  data: undefined,
  problem: null,
  isLoading: true,
  etag: null,
  at: 0,
}

const cache = new Map<string, CachedAnswer>()

function hold(address: string): CachedAnswer {
  const found = cache.get(address)
  if (found) return found
  const made: CachedAnswer = {
    state: signal<State<unknown>>(nothing),
    users: new Map(),
    isAsking: false,
    isStale: false,
    askedAt: 0,
  }
  cache.set(address, made)
  for (const [old, { users }] of cache) {
    if (cache.size <= CACHED_MAX) break
    if (users.size === 0 && old !== address) cache.delete(old)
  }
  return made
}

async function ask(address: string, one: CachedAnswer): Promise<void> {
  if (one.isAsking) {
    one.isStale = true
    return
  }
  one.isAsking = true
  one.askedAt = now()
  try {
    const { body, etag } = await call<unknown>(address)
    one.state.value = { data: body, problem: null, isLoading: false, etag, at: now() }
  } catch (error) {
    one.state.value = { ...one.state.value, problem: problemFrom(error), isLoading: false }
  }
  one.isAsking = false
  if (one.isStale) {
    one.isStale = false
    askSoon(address, one)
  }
}

/** Not more than once a second, however many events ask for it. */
function askSoon(address: string, one: CachedAnswer): void {
  const wait = Math.max(0, one.askedAt + GAP_MS - now())
  if (one.isStale) return
  one.isStale = true
  after(wait, () => {
    one.isStale = false
    if (one.users.size > 0) void ask(address, one)
  })
}

onLive(events => {
  const isAnew = events.some(({ type }) => type === 'resync')
  for (const [address, one] of cache) {
    const concerns = [...one.users.values()]
    if (concerns.length === 0) continue
    if (isAnew || events.some(event => concerns.some(fits => fits(event)))) askSoon(address, one)
  }
})

/** Everything on the screen is read again: after something was done. */
export function refreshAll(): void {
  for (const [address, one] of cache) if (one.users.size > 0) void ask(address, one)
}

export const anyChange: Concerns = ({ type }) => type.startsWith('run.') || type.startsWith('job.')
export const never: Concerns = () => false

/** Events of one job. */
export function ofJob(id: string): Concerns {
  return event => anyChange(event) && event.data.job_id === id
}

/** Null asks nothing. While a changed question is under way, the last answer stays. */
export function useRead<T>(address: Url<T> | null, concerns: Concerns = anyChange): Read<T> {
  const previous = useRef<State<T> | null>(null)
  const latest = useRef(concerns)
  latest.current = concerns
  useEffect(() => {
    if (address === null) return
    const one = hold(address)
    const me = Symbol(address)
    one.users.set(me, event => latest.current(event))
    void ask(address, one)
    return () => void one.users.delete(me)
  }, [address])
  const state = (address === null ? nothing : hold(address).state.value) as State<T>
  const isOld = state.data === undefined && state.problem === null && previous.current !== null
  if (state.data !== undefined) previous.current = state
  const reload = () => {
    if (address !== null) void ask(address, hold(address))
  }
  return { ...(isOld ? { ...previous.current!, isLoading: true } : state), isOld, reload }
}
