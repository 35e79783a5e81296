// How a test gets at a real server: a given URL wins, else the broker's. Outside CI a missing one
// is a reason to skip; in CI it is an error.

import { randomBytes } from 'node:crypto'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ServerKind } from './binaries.ts'
import { BROKER_VARIABLE, type Offer } from './broker.ts'
import { askPostgres } from './postgres.ts'
import { askRedis } from './redis.ts'

const given: Readonly<Record<ServerKind, string>> = {
  postgres: 'CARILLON_TEST_POSTGRES_URL',
  redis: 'CARILLON_TEST_REDIS_URL',
}

async function askBroker(kind: ServerKind): Promise<Offer> {
  const broker = process.env[BROKER_VARIABLE]
  if (broker === undefined) return { missing: 'nothing offers servers to these tests' }
  const body = await new Promise<string>((resolve, reject) => {
    get(`${broker}/${kind}`, answer => {
      text(answer).then(resolve, reject)
    }).on('error', reject)
  })
  return JSON.parse(body) as Offer
}

export async function offeredServer(kind: ServerKind): Promise<Offer> {
  const url = process.env[given[kind]]
  const offer = url === undefined || url === '' ? await askBroker(kind) : { url }
  if ('missing' in offer && process.env['CI'] === 'true') {
    throw new Error(`${kind} is missing, and CI skips nothing: ${offer.missing}`)
  }
  return offer
}

/** A place of its own on a shared server, in the form the store's URLs have. */
export interface FreshPlace {
  readonly url: string
  readonly name: string
  /** Removes everything in it. */
  clean(): Promise<void>
}

function withName(url: string, parameter: string, name: string): string {
  const address = new URL(url)
  address.searchParams.set(parameter, name)
  return address.href
}

const freshName = () => `carillon_${randomBytes(6).toString('hex')}`

/** `postgres://…/db?schema=name`; the schema is the store's to create. */
export function freshSchema(serverUrl: string): FreshPlace {
  const name = freshName()
  const url = withName(serverUrl, 'schema', name)
  const clean = async () => {
    await askPostgres(url, `drop schema if exists "${name}" cascade`)
  }
  return { url, name, clean }
}

/** `redis://…/0?namespace=name`. */
export function freshNamespace(serverUrl: string): FreshPlace {
  const name = freshName()
  const url = withName(serverUrl, 'namespace', name)
  const clean = async () => {
    const keys = (await askRedis(url, 'KEYS', `*${name}*`)) as string[]
    for (let at = 0; at < keys.length; at += 1_000) {
      await askRedis(url, 'UNLINK', ...keys.slice(at, at + 1_000))
    }
  }
  return { url, name, clean }
}

/** A fresh place on the shared server of the kind, or why there is none. */
export async function freshPlace(
  kind: ServerKind,
): Promise<FreshPlace | { readonly missing: string }> {
  const offer = await offeredServer(kind)
  if ('missing' in offer) return offer
  return kind === 'postgres' ? freshSchema(offer.url) : freshNamespace(offer.url)
}
