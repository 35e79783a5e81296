// Secrets of requests: named in a source, looked up when a request is sent, kept nowhere.

import type { SecretRef } from './source.ts'

/** Null when this node has none of that name for the tenant. */
export type SecretLookup = (tenant: string, name: string) => string | null

export const SECRET_PREFIX = 'CARILLON_SECRET_'
const SHARED_TENANT = 'default'

/**
 * From the environment: `CARILLON_SECRET_<NAME>` for the tenant `default`, and
 * `CARILLON_SECRET_<NAME>.<tenant>` for any other. Nothing else of the environment can be named.
 */
export function secretsFrom(env: Readonly<Record<string, string | undefined>>): SecretLookup {
  return (tenant, name) => {
    const variable = `${SECRET_PREFIX}${name}${tenant === SHARED_TENANT ? '' : `.${tenant}`}`
    const held = Object.hasOwn(env, variable) ? env[variable] : undefined
    return held === undefined || held === '' ? null : held
  }
}

export function isSecret(value: unknown): value is SecretRef {
  return typeof value === 'object' && value !== null && 'secret' in value
}

export function revealed(ref: SecretRef, tenant: string, lookup: SecretLookup): string {
  const held = lookup(tenant, ref.secret)
  if (held === null) throw new Error(`this node has no secret ${ref.secret}`)
  return `${ref.prefix ?? ''}${held}`
}
