// Jobs as programs have them: five handlers, ten users, three priorities, and payloads of 100 bytes to
// 4 KiB. The same list for every contender.

export interface MixedJob {
  readonly handler: string
  readonly user: string
  /** 0 is the least urgent. */
  readonly priority: 0 | 1 | 2
  readonly payload: MixedPayload
}

export interface MixedPayload {
  readonly lane: string
  readonly order: number
  readonly to: string
  readonly values: readonly string[]
}

export const MIXED_HANDLERS = ['mail', 'invoice', 'resize', 'report', 'sync'] as const
const USERS = 10
const LEAST_BYTES = 100
const MOST_BYTES = 4_096
const VALUE_BYTES = 32

/** Mulberry32: a small generator, so that every contender gets the same jobs. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function mixedJobs(count: number, from = 0): MixedJob[] {
  const random = randomFrom(from + 1)
  const below = (limit: number) => Math.floor(random() * limit)
  return Array.from({ length: count }, (_, i) => {
    const user = `user-${below(USERS)}`
    // Most payloads are small: the square of an even spread.
    const bytes = LEAST_BYTES + Math.floor(random() ** 2 * (MOST_BYTES - LEAST_BYTES))
    const values = Array.from({ length: Math.ceil(bytes / VALUE_BYTES) }, () =>
      String(random())
        .padEnd(VALUE_BYTES - 3, 'x')
        .slice(0, VALUE_BYTES - 3),
    )
    const to = `someone-${below(100_000)}@example.org`
    return {
      handler: MIXED_HANDLERS[below(MIXED_HANDLERS.length)]!,
      user,
      priority: below(3) as 0 | 1 | 2,
      payload: { lane: user, order: from + i, to, values },
    }
  })
}
