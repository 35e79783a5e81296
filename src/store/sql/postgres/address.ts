// `postgres://user:password@host:5432/database?schema=carillon`: what of a URL is ours, what is the
// driver's, and how to speak of it without its password.

import { SchedulerError, type Problem, refuse } from '../../../core/errors.ts'

export interface Address {
  /** For the driver, without the parameters that are ours. */
  readonly connectionString: string
  /** For people: host, port and database, never the password. */
  readonly place: string
  readonly password: string
  /** As it is written in SQL. */
  readonly schema: string
  readonly poolMax: number
  /** What the address asks of its sessions beside what the store does. */
  readonly options: string
  /** Off, nothing of a session is relied on: any pooler may stand in between. */
  readonly isDirect: boolean
}

const DEFAULT_SCHEMA = 'carillon'
const DEFAULT_POOL = 4
const POOL_MAX = 100
const DEFAULT_PORT = '5432'
const NAME = /^[a-z_][a-z0-9_]{0,62}$/

export function isPostgresUrl(url: string): boolean {
  return url.startsWith('postgres://') || url.startsWith('postgresql://')
}

export function parseAddress(url: string): Address {
  const parsed = readUrl(url)
  const given = parsed.searchParams
  const schema = given.get('schema') ?? DEFAULT_SCHEMA
  const pool = given.get('pool') ?? String(DEFAULT_POOL)
  const listen = given.get('listen') ?? 'on'
  refuse('SETTINGS_INVALID', 'the store is not valid', problemsOf({ schema, pool, listen }))
  const options = given.get('options') ?? ''
  for (const name of ['schema', 'pool', 'listen', 'options']) given.delete(name)
  const database =
    decodeURIComponent(parsed.pathname.slice(1)) || decodeURIComponent(parsed.username)
  const host = parsed.hostname || 'localhost'
  return {
    connectionString: parsed.href,
    place: `${host}:${parsed.port || DEFAULT_PORT}/${database} (schema ${schema})`,
    password: decodeURIComponent(parsed.password),
    schema: `"${schema}"`,
    poolMax: Number(pool),
    options,
    isDirect: listen === 'on',
  }
}

interface Given {
  readonly schema: string
  readonly pool: string
  readonly listen: string
}

function problemsOf({ schema, pool, listen }: Given): Problem[] {
  const problems: Problem[] = []
  if (!NAME.test(schema) || schema.startsWith('pg_') || schema === 'information_schema') {
    const rule = 'must be a plain name: small letters, digits and _, not beginning with pg_'
    problems.push({ field: 'store.schema', value: schema, rule })
  }
  if (!/^\d{1,3}$/.test(pool) || Number(pool) < 1 || Number(pool) > POOL_MAX) {
    problems.push({ field: 'store.pool', value: pool, rule: `must be 1 to ${POOL_MAX}` })
  }
  if (listen !== 'on' && listen !== 'off') {
    problems.push({ field: 'store.listen', value: listen, rule: 'must be on or off' })
  }
  return problems
}

/** An error of the parser would show what it was given, password included. */
function readUrl(url: string): URL {
  try {
    return new URL(url)
  } catch {
    throw new SchedulerError(
      'SETTINGS_INVALID',
      'the store is not valid: postgres://user:password@host:5432/database expected',
    )
  }
}
