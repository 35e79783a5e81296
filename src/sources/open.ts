// Everything it takes to keep and fetch sources over one engine, wired together.

import type { Outbound } from '../actions/guard/outbound.ts'
import type { Registry } from '../actions/registry.ts'
import type { Engine } from '../engine/engine.ts'
import { sourceAction } from './action.ts'
import { RateLimits } from './rate-limits.ts'
import { secretsFrom } from './secrets.ts'
import type { FetchLimits } from './source.ts'
import { Sources } from './sources.ts'
import type { SourceTables } from './tables.ts'

export interface SourceOptions {
  readonly outbound: Outbound
  /** Gets the source action, so that jobs of the kind are checked and run. */
  readonly registry: Registry
  /** Null where this node has no place for tables: it then leaves sources to others. */
  readonly tables: SourceTables | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly userAgent?: string
  readonly limits?: Partial<FetchLimits>
}

export function openSources(
  engine: Pick<Engine, 'store' | 'clock' | 'client'>,
  options: SourceOptions,
): Sources {
  const { store, clock, client } = engine
  const { outbound, registry, tables, env, userAgent = 'Carillon', limits = {} } = options
  const rates = new RateLimits({ store, clock })
  const secrets = secretsFrom(env)
  registry.add(sourceAction({ outbound, clock, tables, rates, secrets, userAgent, limits }))
  return new Sources({ store, clock, client, allow: outbound.allow, rates, tables })
}
