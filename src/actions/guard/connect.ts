// The connection itself: a name is resolved here, every address it has must pass, and only those
// that passed are dialled. Nothing that was resolved earlier is believed.

import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { parseAddress, whyRefused } from './address.ts'
import type { AllowList } from './allow.ts'
import { AddressRefused } from './errors.ts'

export interface Resolved {
  readonly address: string
  readonly family: number
}
export type Resolve = (host: string) => Promise<readonly Resolved[]>

export interface ConnectOptions {
  readonly allow: AllowList
  readonly resolve: Resolve
  readonly connectMs: number
  /** For the operator's log; the job is told only that the host cannot be reached. */
  readonly onRefused: (refused: AddressRefused) => void
}

export function guardedConnector(options: ConnectOptions): buildConnector.connector {
  return (target, callback) => {
    const fail = (error: Error) => {
      if (error instanceof AddressRefused) options.onRefused(error)
      callback(error, null)
    }
    dialled(options, target).then(
      addresses => dial(options, { target, addresses }, callback, fail),
      (error: unknown) => fail(error instanceof Error ? error : new Error(String(error))),
    )
  }
}

/** The addresses that may be dialled, all checked; one bad address refuses the name as a whole. */
async function dialled(
  { allow, resolve }: ConnectOptions,
  target: buildConnector.Options,
): Promise<readonly Resolved[]> {
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const port = portOf(target)
  const literal = parseAddress(host)
  const found = literal ? [{ address: host, family: literal.family }] : await resolve(host)
  if (found.length === 0) throw new Error(`${host} has no address`)
  const isTrusted = literal === null && allow.hasName({ host, port })
  for (const { address } of found) {
    const why = isTrusted ? null : whyNotDialled(address, port, allow)
    if (why !== null) throw new AddressRefused(host, address, why)
  }
  return found
}

function whyNotDialled(text: string, port: number, allow: AllowList): string | null {
  const address = parseAddress(text)
  if (address === null) return 'not an address'
  if (allow.hasAddress(address, port)) return null
  if (!allow.hasPort(port)) return `port ${port}`
  return whyRefused(address)
}

function portOf({ port, protocol }: buildConnector.Options): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

interface Dial {
  readonly target: buildConnector.Options
  readonly addresses: readonly Resolved[]
}

function dial(
  { connectMs }: ConnectOptions,
  { target, addresses }: Dial,
  callback: buildConnector.Callback,
  fail: (error: Error) => void,
): void {
  // Name and certificate stay those of the URL; the socket only ever learns what was checked.
  const connect = buildConnector({
    timeout: connectMs,
    autoSelectFamily: true,
    lookup: (_host, asked, answer) => {
      if (asked.all) answer(null, [...addresses])
      else answer(null, addresses[0]!.address, addresses[0]!.family)
    },
  })
  connect(target, (error, socket) => {
    if (error) return fail(error)
    if (isOneOf(socket, addresses)) return callback(null, socket)
    socket.destroy()
    fail(new AddressRefused(target.hostname, String(socket.remoteAddress), 'was not asked for'))
  })
}

/** A socket that ended meanwhile has no address any more; its request fails by itself. */
function isOneOf({ remoteAddress }: Socket, addresses: readonly Resolved[]): boolean {
  if (remoteAddress === undefined) return true
  const actual = parseAddress(remoteAddress)
  return addresses.some(({ address }) => parseAddress(address)?.value === actual?.value)
}
