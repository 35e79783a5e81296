// The numbers of the HTTP surface, each with its default.

import { refuse } from '../../../core/errors.ts'
import { Findings } from '../../../core/findings.ts'
import { HOPS_MAX, isProxyRange, type TrustedProxies } from './proxies.ts'

export interface HttpSettings {
  readonly bodyBytesMax: number
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
  /** Requests of one token in a minute; null for no limit. */
  readonly ratePerMinute: number | null
  /** Requests of one tenant that are worked on at once; further ones wait. */
  readonly tenantRequestsMax: number
  /** Refused tokens from one address in a minute before it has to wait. */
  readonly authFailuresPerMinute: number
  /** Headers and body of a request arrive within so long, and no connection is silent for longer. */
  readonly requestTimeoutMs: number
  /** The shortest time between two firings of what is made with a token of one tenant. */
  readonly intervalMsMin: number
  /** Without a tick for so long, the node is not ready. */
  readonly readyAfterMs: number
  /** Whether edits and deletions must name the revision they mean. */
  readonly requiresIfMatch: boolean
  /** Whose word counts about address, protocol and prefix of a request. */
  readonly trustedProxies: TrustedProxies
  readonly servesDashboard: boolean
  /** Shown in the dashboard, so that nobody mistakes one place for another: `production`. */
  readonly environment: string | null
  /** Whether the API can be asked for its description; making it takes time and memory. */
  readonly describesApi: boolean
  /** Compare every answer with its schema before it is sent: for tests. */
  readonly checksAnswers: boolean
}

export const httpDefaults: HttpSettings = {
  bodyBytesMax: 256 * 1024,
  jsonDepthMax: 32,
  jsonKeysMax: 1_000,
  ratePerMinute: 6_000,
  tenantRequestsMax: 100,
  authFailuresPerMinute: 60,
  requestTimeoutMs: 30_000,
  intervalMsMin: 1_000,
  readyAfterMs: 60_000,
  requiresIfMatch: false,
  trustedProxies: false,
  servesDashboard: true,
  environment: null,
  describesApi: true,
  checksAnswers: false,
}

const ranges = [
  ['bodyBytesMax', 1_024, 64 * 1024 * 1024],
  ['jsonDepthMax', 4, 1_000],
  ['jsonKeysMax', 10, 1_000_000],
  ['tenantRequestsMax', 1, 100_000],
  ['authFailuresPerMinute', 1, 1_000_000],
  ['requestTimeoutMs', 100, 3_600_000],
  ['intervalMsMin', 1, 86_400_000],
  ['readyAfterMs', 100, 86_400_000],
] as const

/** Fills defaults in and reports every problem at once. */
export function httpSettings(given: Partial<HttpSettings>): HttpSettings {
  const settings = { ...httpDefaults, ...given }
  const found = new Findings()
  for (const [field, min, max] of ranges) found.whole(field, settings[field], min, max)
  const { ratePerMinute } = settings
  if (ratePerMinute !== null) found.whole('ratePerMinute', ratePerMinute, 1, 100_000_000)
  const { trustedProxies: proxies } = settings
  if (typeof proxies === 'number') found.whole('trustedProxies', proxies, 1, HOPS_MAX)
  const odd = typeof proxies === 'object' ? proxies.filter(text => !isProxyRange(text)) : []
  for (const text of odd)
    found.add('trustedProxies', text, 'an address or a network, but not of everyone')
  refuse('SETTINGS_INVALID', 'the HTTP settings are not valid', found.problems)
  return settings
}
