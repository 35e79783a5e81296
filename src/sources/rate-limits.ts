// The rate limits of each tenant and what was used of them, as records: every node counts together.

import { refuse, SchedulerError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { Instant } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Page, PageRequest, Store } from '../store/port.ts'
import { isObject, shapeProblems } from './check.ts'
import { spanOf, takeTurn, type Rate, type Taken } from './rate.ts'
import { periodMs } from './schedule.ts'
import { domainName, rateShape } from './shape.ts'
import type { RateLimit } from './source.ts'

export interface RateParts {
  readonly store: Store
  readonly clock: Clock
}

const ROUNDS_MAX = 50

export class RateLimits {
  readonly #parts: RateParts

  constructor(parts: RateParts) {
    this.#parts = parts
  }

  /** Sets or changes one; what was used of it before still counts. */
  async put(tenant: string, domain: string, given: unknown): Promise<RateLimit> {
    const name = domainName.safeParse(domain)
    const rate = rateShape.safeParse(given)
    refuse('SOURCE_INVALID', 'the rate limit is not valid', [
      ...(name.success ? [] : shapeProblems(name.error, domain).map(one => named(one, domain))),
      ...(rate.success ? [] : shapeProblems(rate.error, given)),
      ...(isObject(given) ? [] : [{ field: 'body', value: given, rule: 'must be an object' }]),
    ])
    const value = rate.data!
    const write = { kind: ruleKind(tenant), key: domain, value, expectedVersion: null }
    await this.#parts.store.putRecords([{ ...write, expireAt: null }], this.#parts.clock.now())
    return { domain, ...value }
  }

  /** In the order of their names. */
  async list(tenant: string, page: PageRequest): Promise<Page<RateLimit>> {
    const { store, clock } = this.#parts
    const { items, cursor } = await store.listRecords(ruleKind(tenant), page, clock.now())
    return { items: items.map(({ key, value }) => limitOf(key, value)), cursor }
  }

  async get(tenant: string, domain: string): Promise<RateLimit> {
    const { store, clock } = this.#parts
    const [held] = await store.getRecords(ruleKind(tenant), [domain], clock.now())
    if (held) return limitOf(held.key, held.value)
    throw new SchedulerError('SOURCE_NOT_FOUND', `there is no rate limit for ${domain}`)
  }

  async remove(tenant: string, domain: string): Promise<void> {
    await this.get(tenant, domain)
    const gone = { key: domain, value: null, expectedVersion: null, expireAt: null, remove: true }
    const kinds = [ruleKind(tenant), usedKind(tenant)]
    const writes = kinds.map(kind => ({ ...gone, kind }))
    await this.#parts.store.putRecords(writes, this.#parts.clock.now())
  }

  /** Counts a request to the host. Null when it may be sent, otherwise when to ask again. */
  async take(tenant: string, host: string): Promise<Instant | null> {
    const { store, clock } = this.#parts
    const names = coveringNames(host)
    const rules = await store.getRecords(ruleKind(tenant), names, clock.now())
    if (rules.length === 0) return null
    const nearest = names.map(name => rules.find(({ key }) => key === name)).find(rule => rule)!
    const { limit, period } = limitOf(nearest.key, nearest.value)
    return this.#count(tenant, nearest.key, { limit, periodMs: spanOf(periodMs(period)!) })
  }

  async #count(tenant: string, key: string, rate: Rate): Promise<Instant | null> {
    const { store, clock } = this.#parts
    const kind = usedKind(tenant)
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const now = clock.now()
      const [held] = await store.getRecords(kind, [key], now)
      const turn = takeTurn(takenOf(held?.value), rate, now)
      if (!turn.isFree) return turn.freeAt
      const write = { kind, key, value: turn.taken, expectedVersion: held?.version ?? 0 }
      const expireAt = now + rate.periodMs
      const [result] = await store.putRecords([{ ...write, expireAt }], now)
      if (result === 'put') return null
    }
    throw new Error(`the rate limit of ${key} is asked for too often at once`)
  }
}

function named<P extends { field: string; value: unknown }>(problem: P, value: string): P {
  return { ...problem, field: 'domain', value }
}

/** The host itself first, then each domain it is in. */
function coveringNames(host: string): string[] {
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return [host]
  const labels = host.split('.')
  return labels.map((_, i) => labels.slice(i).join('.'))
}

function limitOf(domain: string, value: Json): RateLimit {
  return { domain, ...(value as { readonly limit: number; readonly period: string }) }
}

function takenOf(value: Json | undefined): readonly Taken[] {
  return Array.isArray(value) ? value : []
}

/** A tenant's records are a kind of their own, so that a page never sees another's. */
function ruleKind(tenant: string): string {
  return `source-limit/${tenant}`
}

function usedKind(tenant: string): string {
  return `source-used/${tenant}`
}
