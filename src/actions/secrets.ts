// Secrets of requests: named in the settings of an action, looked up when a request is sent, kept
// nowhere.

import { z } from 'zod'

/** A value the service looks up when it sends the request; it is never stored or shown. */
export interface SecretRef {
  readonly secret: string
  /** Put before it, such as `Bearer `. */
  readonly prefix?: string | undefined
}

/** Null when this node has none of that name for the tenant. */
export type SecretLookup = (tenant: string, name: string) => string | null

export const SECRET_PREFIX = 'CARILLON_SECRET_'
/** Shorter ones cannot be told from ordinary text where they are echoed. */
export const SECRET_LENGTH_MIN = 4
export const SHORT_RULE = `must have at least ${SECRET_LENGTH_MIN} characters to be masked where it is echoed`
const SHARED_TENANT = 'default'
const NAME = /^[A-Z][A-Z0-9_]{0,99}$/
const PREFIX_MAX = 100

// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const prefix = /^[^\u0000-\u001f\u007f]*$/

export const secretRef = z
  .strictObject({
    secret: z.string().regex(NAME, 'must be the name of a secret: A-Z, 0-9 and _'),
    prefix: z
      .string()
      .max(PREFIX_MAX)
      .regex(prefix, 'must not contain control characters')
      .optional(),
  })
  .meta({ id: 'SecretReference', description: 'A secret of the service, by name.' })

/**
 * From the environment: `CARILLON_SECRET_<NAME>` for the tenant `default`, and
 * `CARILLON_SECRET_<NAME>.<tenant>` for any other. Nothing else of the environment can be named.
 */
export function secretsFrom(env: Readonly<Record<string, string | undefined>>): SecretLookup {
  return (tenant, name) => {
    const variable = variableOf(tenant, name)
    const held = Object.hasOwn(env, variable) ? env[variable] : undefined
    return held === undefined || held === '' ? null : held
  }
}

function variableOf(tenant: string, name: string): string {
  return `${SECRET_PREFIX}${name}${tenant === SHARED_TENANT ? '' : `.${tenant}`}`
}

export function isSecretRef(value: unknown): value is SecretRef {
  return secretRef.safeParse(value).success
}

/** What is wrong with a reference on this node; null when it can be resolved. */
export function referenceRule(
  { secret }: SecretRef,
  tenant: string,
  lookup: SecretLookup,
): string | null {
  const held = lookup(tenant, secret)
  if (held === null) {
    return `must name a secret of this service: it has no ${variableOf(tenant, secret)}`
  }
  return held.length < SECRET_LENGTH_MIN ? SHORT_RULE : null
}

/** The secret itself, without what stands before it. */
export function revealed(ref: SecretRef, tenant: string, lookup: SecretLookup): string {
  const held = lookup(tenant, ref.secret)
  if (held === null) throw new Error(`this node has no secret ${ref.secret}`)
  if (held.length < SECRET_LENGTH_MIN) throw new Error(`secret ${ref.secret} ${SHORT_RULE}`)
  return held
}

const secretHeader =
  /^(?:authorization|cookie)$|(?:^|[-_])(?:key|token|secret|auth|password)(?:$|[-_])/i
const secretParam = /(?:^|[-_.])(?:api)?(?:key|token|secret|password|passwd|pwd|signature|sig)$/i

/** Whether a parameter or a field of this name is likely to hold a key. */
export function isSecretName(name: string): boolean {
  return secretParam.test(name) || /(?:api[-_]?key|access[-_]?token|client[-_]?secret)/i.test(name)
}

export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name) || isSecretName(name)
}
