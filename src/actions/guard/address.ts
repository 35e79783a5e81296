// Network addresses as numbers, ranges of them, and which are never reached without permission.

import { isIP } from 'node:net'

export interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

export interface Range {
  readonly family: 4 | 6
  readonly first: bigint
  readonly bits: number
}

/** Null for anything but one address in its usual spelling; a zone id is not part of one. */
export function parseAddress(text: string): Address | null {
  const family = isIP(text)
  if (family === 4) return { family, value: fromV4(text) }
  if (family === 6 && !text.includes('%')) return { family, value: fromV6(text) }
  return null
}

function fromV4(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function fromV6(text: string): bigint {
  const dotted = /(?:\d+\.){3}\d+$/.exec(text)?.[0]
  const plain = dotted === undefined ? text : text.slice(0, -dotted.length) + lastGroups(dotted)
  const [head = '', tail] = plain.split('::')
  const before = groups(head)
  const after = groups(tail ?? '')
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<bigint>(gap).fill(0n), ...after].reduce(
    (sum, group) => (sum << 16n) | group,
    0n,
  )
}

function lastGroups(dotted: string): string {
  const value = fromV4(dotted)
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
}

function groups(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map(group => BigInt(`0x${group}`))
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export function parseRange(text: string): Range | null {
  const [base = '', length, more] = text.split('/')
  const address = parseAddress(base)
  if (address === null || more !== undefined) return null
  const width = address.family === 4 ? 32 : 128
  if (length === undefined) return { family: address.family, first: address.value, bits: width }
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (!(bits >= 0 && bits <= width)) return null
  const shift = BigInt(width - bits)
  return { family: address.family, first: (address.value >> shift) << shift, bits }
}

export function isIn(range: Range, address: Address): boolean {
  if (range.family !== address.family) return false
  const shift = BigInt((range.family === 4 ? 32 : 128) - range.bits)
  return address.value >> shift === range.first >> shift
}

/** What the networks of cloud providers hand credentials out on; only an exact entry opens one. */
const metadata = once([
  ['169.254.169.254/32', 'cloud metadata'],
  ['169.254.170.2/32', 'cloud metadata'],
  ['169.254.170.23/32', 'cloud metadata'],
  ['100.100.100.200/32', 'cloud metadata'],
  ['192.0.0.192/32', 'cloud metadata'],
  ['168.63.129.16/32', 'cloud metadata'],
  ['fd00:ec2::254/128', 'cloud metadata'],
  ['fd00:ec2::23/128', 'cloud metadata'],
  ['fd20:ce::254/128', 'cloud metadata'],
])

/** From the registries of special-purpose addresses. */
const special = once([
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['2001::/23', 'Teredo or reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
])

/** Everything else of IPv6 is loopback, mapped, translated, local, multicast or not given out. */
const globalV6 = once([['2000::/3', 'global']])

type Ranges = readonly (readonly [Range, string])[]

/** Read when first asked for: many processes check no address at all, and reading takes a while. */
function once(rows: readonly (readonly [string, string])[]): () => Ranges {
  let held: Ranges | null = null
  return () => (held ??= rows.map(([text, about]) => [parseRange(text)!, about] as const))
}

function find(known: Ranges, address: Address): string | null {
  return known.find(([range]) => isIn(range, address))?.[1] ?? null
}

export function isMetadata(address: Address): boolean {
  return find(metadata(), address) !== null
}

/** Why an address is refused; null when it is an ordinary public one. */
export function whyRefused(address: Address): string | null {
  const found = find(metadata(), address) ?? find(special(), address)
  if (found !== null || address.family === 4) return found
  if (find(globalV6(), address) === null) return 'not a global address'
  return isTunnelled(address.value) ? 'ISATAP' : null
}

/** An interface id of the form 0000:5efe or 0200:5efe carries an IPv4 address. */
function isTunnelled(value: bigint): boolean {
  const marker = (value >> 32n) & 0xffff_ffffn
  return marker === 0x0000_5efen || marker === 0x0200_5efen
}
