// Which machines in front may say where a request comes from: so many hops, or those at known addresses.

import {
  isIn,
  parseAddress,
  parseRange,
  type Address,
  type Range,
} from '../../../actions/guard/address.ts'

/** A number counts from this service outwards; addresses and networks are those of the proxies. */
export type TrustedProxies = false | number | readonly string[]

export const HOPS_MAX = 10

/** Whether what stands this many hops in front, 0 being the peer, is one of ours. */
export type Trust = (address: string | undefined, hop: number) => boolean

export function trustIn(proxies: TrustedProxies): Trust {
  if (proxies === false) return () => false
  // The words of X-Forwarded-For beyond our own proxies are the client's, and never looked at.
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  const ranges = proxies.flatMap(text => parseRange(text) ?? [])
  return text => {
    const address = text === undefined ? null : plainAddress(text)
    return address !== null && ranges.some(range => isIn(range, address))
  }
}

/** Everyone would be trusted, the client too. */
export function isProxyRange(text: string): boolean {
  const range: Range | null = parseRange(text)
  return range !== null && range.bits > 0
}

/** A socket that listens to both families shows IPv4 peers as mapped ones. */
function plainAddress(text: string): Address | null {
  return parseAddress(/^::ffff:([\d.]+)$/i.exec(text)?.[1] ?? text)
}
