// Everything it takes to keep and fetch sources over one engine, wired together.

import { AllowList } from '../actions/guard/allow.ts'
import { Outbound } from '../actions/guard/outbound.ts'
import { Registry } from '../actions/registry.ts'
import { secretsFrom } from '../actions/secrets.ts'
import { refuse } from '../core/errors.ts'
import type { Engine } from '../create-engine.ts'
import { sourceAction } from './action.ts'
import { RateLimits } from './rate-limits.ts'
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

export interface LibraryOptions {
  /** Internal hosts that sources may reach: names, addresses, ranges, each with a port if it has one. */
  readonly allowHosts?: readonly string[]
  /** Where tables live, as `sqlite:<path>` or `postgres://…`. Default: the store's own database. */
  readonly database?: string
  /** Where secrets are looked up. Default: the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly limits?: Partial<FetchLimits>
}

export interface OpenSources {
  readonly sources: Sources
  /** From now on the node takes sources. */
  serve(): void
  close(): Promise<void>
}

/** Sources with a way out of their own, for programs. */
export function openOwnSources(
  engine: Engine,
  options: LibraryOptions & Pick<SourceOptions, 'tables' | 'env'>,
): OpenSources {
  const { tables, env, limits = {} } = options
  const { list, problems } = AllowList.parse(options.allowHosts ?? [], 'sources.allowHosts')
  refuse('SETTINGS_INVALID', 'the settings are not valid', problems)
  const outbound = new Outbound({ clock: engine.clock, allow: list })
  const registry = new Registry()
  const sources = openSources(engine, { outbound, registry, tables, env, limits })
  return {
    sources,
    serve: () => {
      for (const [name, handler] of registry.handlers) engine.handlers.set(name, handler)
    },
    close: async () => {
      await outbound.close()
      await tables?.close()
    },
  }
}
