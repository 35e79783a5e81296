// The secret tokens are signed with: long enough, and not one that was published somewhere.

import type { Problem } from '../../core/errors.ts'

export const SECRET_BYTES_MIN = 32

const samples = [
  'secret',
  'changeme',
  'change-me',
  'change_me',
  'change_this',
  'change-this',
  'your-256-bit-secret',
  'your_jwt_secret',
  'your-secret-key',
  'your_secret_key',
  'my-secret-key',
  'mysecretkey',
  'supersecret',
  'super-secret',
  'super_secret',
  'topsecret',
  'shhhhh',
  'jwt-secret',
  'jwt_secret',
  'secretkey',
  'secret-key',
  'secret_key',
  'keyboard cat',
  'default_token',
  'password',
  'example',
  'development',
  'insecure',
  'a-string-secret-at-least-256-bits-long',
  // The longest first, so that none is found in pieces.
].toSorted((a, b) => b.length - a.length)

/** Letters that repeat say little however many they are. */
const DISTINCT_MIN = 10

/** What is wrong with a secret; the value itself is never repeated. */
export function secretProblems(secret: string, field = 'jwtSecret'): Problem[] {
  const rules: string[] = []
  const bytes = new TextEncoder().encode(secret).length
  if (bytes < SECRET_BYTES_MIN) rules.push(`must have at least ${SECRET_BYTES_MIN} bytes`)
  if (isSample(secret)) rules.push('is a sample that is known to everyone')
  else if (new Set(secret).size < DISTINCT_MIN) rules.push('must not repeat a few characters')
  return rules.map(rule => ({ field, value: '***', rule }))
}

function isSample(secret: string): boolean {
  const plain = secret.toLowerCase()
  const rest = samples.reduce((text, sample) => text.replaceAll(sample, ''), plain)
  // Padding a sample with digits or repeating it does not make it a secret.
  return rest !== plain && rest.replaceAll(/[^a-z]|(?:this|please|in|production)/g, '').length < 16
}
