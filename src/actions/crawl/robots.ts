// What a host's robots.txt allows, read once per crawl and host.

import { createRequire } from 'node:module'
import type { Millis } from '../../core/time.ts'
import { OutboundError } from '../guard/errors.ts'
import type { Outbound } from '../guard/outbound.ts'

interface Rules {
  isAllowed(url: string, agent?: string): boolean | undefined
  getCrawlDelay(agent?: string): number | undefined
}

// Its types describe a default export, which Node gives only to those who require it.
const parseRules = createRequire(import.meta.url)('robots-parser') as (
  url: string,
  text: string,
) => Rules

const ROBOTS_BYTES_MAX = 500 * 1024
const REDIRECTS_MAX = 5
/** A longer one would stop a crawl in all but name. */
export const CRAWL_DELAY_MAX: Millis = 30_000

export class Robots {
  readonly #outbound: Outbound
  readonly #agent: string
  readonly #userAgent: string
  readonly #byOrigin = new Map<string, Rules | null>()

  constructor(parts: { outbound: Outbound; agent: string; userAgent: string }) {
    this.#outbound = parts.outbound
    this.#agent = parts.agent
    this.#userAgent = parts.userAgent
  }

  async isAllowed(url: URL, signal: AbortSignal): Promise<boolean> {
    const rules = await this.#rules(url, signal)
    return rules?.isAllowed(url.href, this.#agent) ?? true
  }

  /** Of a host whose rules were read. */
  delayMs(url: URL): Millis {
    const seconds = this.#byOrigin.get(url.origin)?.getCrawlDelay(this.#agent) ?? 0
    return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1_000), CRAWL_DELAY_MAX) : 0
  }

  async #rules(url: URL, signal: AbortSignal): Promise<Rules | null> {
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
    })
    // RFC 9309: no rules for a client error; nothing may be fetched while the server is in trouble.
    if (status >= 500 || status === 429) {
      throw new OutboundError('protocol', `robots.txt of ${origin} answered ${status}`)
    }
    const rules = status >= 200 && status < 300 ? parseRules(address, body.toString()) : null
    this.#byOrigin.set(origin, rules)
    return rules
  }
}
