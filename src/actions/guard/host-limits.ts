// How many requests each host gets at once: what an operator sets, for every host and for single ones.

import type { Problem } from '../../core/errors.ts'

export interface HostLimits {
  /** Of every host that has no number of its own. */
  readonly connectionsPerHost: number
  /** By host, with its port unless that is the usual one. */
  readonly connectionsByHost: Readonly<Record<string, number>>
}

const ENTRY = /^(?:(\S+)=)?(\d{1,5})$/

/** `16,api.example.com=50`: a number for every host, and numbers of single ones. */
export function parseHostLimits(
  entries: readonly string[],
  defaults: HostLimits,
  field: string,
): { limits: HostLimits; problems: Problem[] } {
  let { connectionsPerHost } = defaults
  const connectionsByHost: Record<string, number> = {}
  const problems: Problem[] = []
  for (const entry of entries) {
    const [, name, digits] = ENTRY.exec(entry) ?? []
    const count = Number(digits)
    const host = name === undefined ? null : hostOf(name)
    if (digits === undefined || count < 1 || count > CONNECTIONS_MAX || host === '') {
      problems.push({ field, value: entry, rule: HOST_LIMIT_RULE })
    } else if (host === null) connectionsPerHost = count
    else connectionsByHost[host] = count
  }
  return { limits: { connectionsPerHost, connectionsByHost }, problems }
}

const CONNECTIONS_MAX = 10_000
const HOST_LIMIT_RULE =
  `must be a number from 1 to ${CONNECTIONS_MAX}, alone or after a host such as ` +
  'api.example.com=20 or [::1]:8080=20'

function hostOf(name: string): string {
  const text = `http://${name}/`
  if (!URL.canParse(text)) return ''
  const { host, pathname, username, search, hash } = new URL(text)
  return pathname === '/' && username + search + hash === '' ? host : ''
}
