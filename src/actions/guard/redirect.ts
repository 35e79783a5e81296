// What is sent after a redirect: the method and body the status asks for, and no credentials to
// another origin.

import { OutboundError } from './errors.ts'

export interface Step {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

const statuses = [301, 302, 303, 307, 308]
const contentNames = /^content-/
/** The rest may hold credentials, whatever it is called. */
const harmlessNames = /^(?:accept|accept-language|cache-control|content-.*|user-agent)$/

/** Null when the answer is no redirect. The next URL is checked like the first. */
export function forRedirect(step: Step, { status, headers }: Answer): Step | null {
  const { location } = headers
  if (!statuses.includes(status) || location === undefined) return null
  const from = new URL(step.url)
  const to = target(location, from)
  const becomesGet =
    status === 303
      ? step.method !== 'HEAD'
      : (status === 301 || status === 302) && step.method === 'POST'
  const kept = Object.entries(step.headers).filter(([given]) => {
    const name = given.toLowerCase()
    if (becomesGet && contentNames.test(name)) return false
    return from.origin === to.origin || harmlessNames.test(name)
  })
  return {
    url: to.href,
    method: becomesGet ? 'GET' : step.method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? null : step.body,
  }
}

function target(location: string, from: URL): URL {
  try {
    const to = new URL(location, from)
    to.hash = ''
    return to
  } catch {
    throw new OutboundError('protocol', 'the host redirects to something that is no URL')
  }
}
