// What a host's robots.txt allows, read once per crawl and host.

import type { Millis } from '../../core/time.ts'
import { OutboundError } from '../guard/errors.ts'
import type { Outbound } from '../guard/outbound.ts'
import { slices, TookTooLong, type Steps } from '../slices.ts'
import { parseRobots, ROBOTS_BYTES_MAX, type RobotsRules } from './robots-rules.ts'

const REDIRECTS_MAX = 5
/** Processor time for reading the rules, and for asking them about one page. */
const RULES_MS: Millis = 1_000
/** A longer one would stop a crawl in all but name. */
export const CRAWL_DELAY_MAX: Millis = 30_000

interface RobotsParts {
  readonly outbound: Outbound
  readonly agent: string
  readonly userAgent: string
  readonly tenant: string
}

export class Robots {
  readonly #outbound: Outbound
  readonly #agent: string
  readonly #userAgent: string
  readonly #tenant: string
  readonly #byOrigin = new Map<string, RobotsRules | null>()

  constructor(parts: RobotsParts) {
    this.#tenant = parts.tenant
    this.#outbound = parts.outbound
    this.#agent = parts.agent
    this.#userAgent = parts.userAgent
  }

  async isAllowed(url: URL, signal: AbortSignal): Promise<boolean> {
    const rules = await this.#rules(url, signal)
    return rules === null || this.#bounded(url, rules.allows(url.pathname + url.search), signal)
  }

  /** Of a host whose rules were read. */
  delayMs(url: URL): Millis {
    const seconds = this.#byOrigin.get(url.origin)?.delaySeconds ?? 0
    return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1_000), CRAWL_DELAY_MAX) : 0
  }

  async #rules(url: URL, signal: AbortSignal): Promise<RobotsRules | null> {
    const { origin } = url
    const known = this.#byOrigin.get(origin)
    if (known !== undefined) return known
    const address = `${origin}/robots.txt`
    const { status, body } = await this.#outbound.request({
      url: address,
      headers: { 'user-agent': this.#userAgent },
      redirects: REDIRECTS_MAX,
      bodyBytes: ROBOTS_BYTES_MAX,
      overflow: 'cut',
      signal,
      tenant: this.#tenant,
    })
    // RFC 9309: no rules for a client error; nothing may be fetched while the server is in trouble.
    if (status >= 500 || status === 429) {
      throw new OutboundError('protocol', `robots.txt of ${origin} answered ${status}`)
    }
    const isThere = status >= 200 && status < 300
    const parsing = () => this.#bounded(url, parseRobots(body.toString(), this.#agent), signal)
    const rules = isThere ? await parsing() : null
    this.#byOrigin.set(origin, rules)
    return rules
  }

  /** Rules that cannot be applied in time end the crawl: without them nothing may be fetched. */
  async #bounded<T>({ origin }: URL, steps: Steps<T>, signal: AbortSignal): Promise<T> {
    try {
      return await slices.run(steps, { signal, totalMs: RULES_MS })
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error
      throw new Error(`robots.txt of ${origin} ${error.message}`, { cause: error })
    }
  }
}
