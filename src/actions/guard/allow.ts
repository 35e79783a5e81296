// The operator's list of internal hosts that jobs may reach: names, addresses, ranges, ports.

import type { Problem } from '../../core/errors.ts'
import { isIn, isMetadata, parseAddress, parseRange, type Address, type Range } from './address.ts'

/** Without a port of its own an entry opens these. */
export const DEFAULT_PORTS: readonly number[] = [80, 443]

type Ports = 'default' | 'any' | number
type Entry =
  | { readonly kind: 'host'; readonly name: string; readonly ports: Ports }
  | { readonly kind: 'suffix'; readonly suffix: string; readonly ports: Ports }
  | { readonly kind: 'range'; readonly range: Range; readonly ports: Ports }
  /** `*:8443`: a port for every public host; opens no address. */
  | { readonly kind: 'port'; readonly ports: Ports }

export interface Place {
  readonly host: string
  readonly port: number
}

export class AllowList {
  readonly #entries: readonly Entry[]

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries
  }

  static none(): AllowList {
    return new AllowList([])
  }

  /** A list, or the comma list of CARILLON_ALLOW_HOSTS; every wrong entry is a problem. */
  static parse(
    given: string | readonly string[],
    field = 'CARILLON_ALLOW_HOSTS',
  ): { readonly list: AllowList; readonly problems: readonly Problem[] } {
    const texts = (typeof given === 'string' ? given.split(',') : given)
      .map(text => text.trim())
      .filter(text => text !== '')
    const parsed = texts.map(text => ({ text, entry: parseEntry(text.toLowerCase()) }))
    const problems = parsed
      .filter(({ entry }) => entry === null)
      .map(({ text }) => ({ field, value: text, rule: RULE }))
    return { list: new AllowList(parsed.flatMap(({ entry }) => entry ?? [])), problems }
  }

  /** Whether the host is trusted by name, wherever it resolves to. */
  hasName({ host, port }: Place): boolean {
    return this.#entries.some(entry => {
      if (entry.kind === 'host') return entry.name === host && opens(entry.ports, port)
      if (entry.kind === 'suffix') return host.endsWith(entry.suffix) && opens(entry.ports, port)
      return false
    })
  }

  /** Whether this address may be connected to although it is not a public one. */
  hasAddress(address: Address, port: number): boolean {
    return this.#entries.some(
      entry =>
        entry.kind === 'range' &&
        isIn(entry.range, address) &&
        opens(entry.ports, port) &&
        (!isMetadata(address) || isSingle(entry.range)),
    )
  }

  hasPort(port: number): boolean {
    return (
      DEFAULT_PORTS.includes(port) ||
      this.#entries.some(entry => entry.kind === 'port' && opens(entry.ports, port))
    )
  }
}

const RULE =
  'must be a host, *.suffix, address or range, each with :port or :* if wanted, or *:port'

function opens(ports: Ports, port: number): boolean {
  if (ports === 'any') return true
  return ports === 'default' ? DEFAULT_PORTS.includes(port) : ports === port
}

function isSingle({ family, bits }: Range): boolean {
  return bits === (family === 4 ? 32 : 128)
}

function parseEntry(text: string): Entry | null {
  const { base, ports } = splitPorts(text)
  if (ports === null) return null
  if (base === '*') return typeof ports === 'number' ? { kind: 'port', ports } : null
  const range = parseRange(base.replace(/^\[(.*)\]$/, '$1'))
  if (range) return { kind: 'range', range, ports }
  if (base.startsWith('*.')) {
    return isName(base.slice(2)) ? { kind: 'suffix', suffix: base.slice(1), ports } : null
  }
  return isName(base) ? { kind: 'host', name: base, ports } : null
}

/** The port is what follows the last colon, unless that colon is part of an IPv6 address. */
function splitPorts(text: string): { base: string; ports: Ports | null } {
  const isBareV6 = parseRange(text)?.family === 6
  const found = isBareV6 ? null : /^(.*):([^:\]]*)$/.exec(text)
  if (!found) return { base: text, ports: 'default' }
  const [, base = '', port = ''] = found
  if (port === '*') return { base, ports: 'any' }
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535
  return { base, ports: isPort ? Number(port) : null }
}

function isName(text: string): boolean {
  return (
    text.length <= 253 &&
    parseAddress(text) === null &&
    /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(text) &&
    // A last label of digits is how an address in another spelling looks.
    !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(text)
  )
}
