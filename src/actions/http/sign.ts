// Signatures as Standard Webhooks describes them: HMAC-SHA256 over id, timestamp and body.

import { createHash, createHmac } from 'node:crypto'

export const SECRET_RULE = 'must be whsec_ followed by 24 to 64 bytes in base64'

/** The bytes of a `whsec_…` secret; null when it is none. */
export function secretKey(secret: string): Buffer | null {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  if (text === undefined) return null
  const key = Buffer.from(text, 'base64')
  return key.length >= 24 && key.length <= 64 ? key : null
}

/** The same for every attempt of a run; without the dot that separates what is signed. */
export function webhookId(runId: string): string {
  return `run_${createHash('sha256').update(runId).digest('base64url').slice(0, 32)}`
}

export interface Signed {
  readonly id: string
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number
  readonly body: string
}

/** One signature per secret, so that a receiver may move from one to the next. */
export function signature({ id, timestamp, body }: Signed, secrets: readonly string[]): string {
  return secrets
    .flatMap(secret => secretKey(secret) ?? [])
    .map(
      key =>
        `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    )
    .join(' ')
}
