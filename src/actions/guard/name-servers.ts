// Asks name servers for the addresses of a name, without a thread, and no longer than it is told.

import { promises } from 'node:dns'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Resolved } from './connect.ts'

/** One question to one server; the second try waits twice as long. */
const TRY_MS: Millis = 2_000
const TRIES = 2
/** How much longer the addresses of one family are waited for when those of the other are there. */
const OTHER_FAMILY_MS: Millis = 500

/** What a server said: these codes mean that there is no such name, or none with an address. */
const noAddress = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])
/** The server could not say; the C library then tries the next candidate too. */
const noAnswer = new Set(['ESERVFAIL', 'ENOTIMP', 'EREFUSED', 'EFORMERR'])

export type Answered =
  | { readonly kind: 'found'; readonly addresses: readonly Resolved[] }
  | { readonly kind: 'none' }
  /** Nothing is known about the name. */
  | { readonly kind: 'failed'; readonly isSilent: boolean }

export interface Question {
  readonly name: string
  /** Those of the system when there are none. */
  readonly servers: readonly string[]
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A resolver of its own for every question: it can be given up, and reads the system's servers anew. */
export async function askServers({ name, servers, clock, signal }: Question): Promise<Answered> {
  signal.throwIfAborted()
  const resolver = new promises.Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  const timers: (() => void)[] = []
  try {
    const v4 = outcome(resolver.resolve4(name), 4)
    const v6 = outcome(resolver.resolve6(name), 6)
    const late = async (one: Promise<Answered>, other: Promise<Answered>) => {
      if ((await one).kind === 'found') timers.push(clock.after(OTHER_FAMILY_MS, cancel))
      return other
    }
    return together(await Promise.all([late(v6, v4), late(v4, v6)]))
  } finally {
    for (const stop of timers) stop()
    signal.removeEventListener('abort', cancel)
  }
}

async function outcome(asked: Promise<string[]>, family: 4 | 6): Promise<Answered> {
  try {
    const addresses = (await asked).map(address => ({ address, family }))
    return addresses.length > 0 ? { kind: 'found', addresses } : { kind: 'none' }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (noAddress.has(code)) return { kind: 'none' }
    return { kind: 'failed', isSilent: !noAnswer.has(code) }
  }
}

/** Addresses of the fourth version first: a machine without the sixth loses no time. */
function together([v4, v6]: [Answered, Answered]): Answered {
  const found = [v4, v6].flatMap(one => (one.kind === 'found' ? one.addresses : []))
  if (found.length > 0) return { kind: 'found', addresses: found }
  if (v4.kind === 'failed') return v4
  return v6
}
