// A world for sources: virtual time, nodes that fetch, a real server, and tables to look into. Time
// stands while a request is under way, unless the server is told to hold it.

import { onTestFinished } from 'vitest'
import { AllowList } from '../../src/actions/guard/allow.ts'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { Registry } from '../../src/actions/registry.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { openSources } from '../../src/sources/open.ts'
import type { FetchLimits } from '../../src/sources/source.ts'
import { SOURCE_QUEUE } from '../../src/sources/source.ts'
import { sourceId } from '../../src/sources/spec.ts'
import type { SourceInput } from '../../src/sources/shape.ts'
import type { Sources } from '../../src/sources/sources.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { makeWorld, type World, type WorldNode } from '../support/world.ts'
import { tracked } from '../support/world-parts.ts'
import type { OpenPlace, Place } from './places.ts'
import { sqlite } from './places.ts'

export const AT = '2026-01-05T10:00:00Z'
export const HOST = 'api.example.test'
/** Virtual days pass in few steps. */
const calm = {
  checkIntervalMs: HOUR,
  reapMs: 10 * MINUTE,
  idleReapMs: DAY,
  metricsMs: HOUR,
  pruneMs: DAY,
}

export interface SourceWorldOptions {
  readonly open?: OpenPlace
  readonly port: number
  readonly limits?: Partial<FetchLimits>
  readonly env?: Readonly<Record<string, string>>
  /** The server holds requests: time must pass while they are under way. */
  readonly holds?: boolean
  readonly slots?: number
}

export interface SourceWorld {
  readonly world: World
  readonly sources: Sources
  readonly place: Place
  node(name: string): Promise<WorldNode>
  add(more?: Partial<SourceInput>): Promise<void>
  /** The values of a column, or of several, of every row in the order of the first. */
  rows(columns?: string, table?: string, tenant?: string): Promise<readonly unknown[][]>
  attempts(name?: string): ReturnType<World['attempts']>
  job(name?: string): ReturnType<World['job']>
}

/** A source of this world; what a test is about is given. */
export function source(port: number, more: Partial<SourceInput> = {}): SourceInput {
  return {
    name: 'items',
    url: `http://${HOST}:${port}/items`,
    table: 'items',
    response: {
      dataPath: 'data',
      fields: [
        { source: 'id', target: 'id' },
        { source: 'name', target: 'name' },
      ],
    },
    offsetPagination: { pageParam: 'page', limitParam: 'limit', limit: 2, hasMorePath: 'more' },
    ...more,
  }
}

export async function sourceWorld(options: SourceWorldOptions): Promise<SourceWorld> {
  const { port, holds = false, env = {} } = options
  let held: Place | null = null
  const open = async (clock: () => number) => {
    held = await (options.open ?? sqlite)(clock)
    return held.store
  }
  const world = await makeWorld({ at: AT, settings: calm, open })
  const place = held as unknown as Place
  const outbound = outboundOf(world.clock, port)
  const registry = new Registry()
  const parts = { store: world.store, clock: world.clock, client: world.client }
  const sources = openSources(parts as never, {
    outbound: holds ? outbound : tracked(outbound, world.clock),
    registry,
    tables: tracked(place.tables, world.clock),
    env,
    ...(options.limits ? { limits: options.limits } : {}),
  })
  const handlers = Object.fromEntries(registry.handlers) as Record<string, Handler>
  const queues = { [SOURCE_QUEUE]: { slots: options.slots ?? 5, buffer: 5 } }
  return {
    world,
    sources,
    place,
    node: name => world.node(name, handlers, { queues }),
    add: async more => {
      await sources.add('default', source(port, more))
      await world.settle()
    },
    rows: (columns = 'id, name', table = 'items', tenant = 'default') =>
      place.ask(
        `select ${columns} from ${place.nameOf(table, tenant)} order by cast(id as integer)`,
      ),
    attempts: (name = 'items') => world.attempts(sourceId('default', name)),
    job: (name = 'items') => world.job(sourceId('default', name)),
  }
}

function outboundOf(clock: VirtualClock, port: number): Outbound {
  const { list } = AllowList.parse([`${HOST}:${port}`, `other.example.test:${port}`])
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const outbound = new Outbound({ clock, allow: list, resolve })
  onTestFinished(() => outbound.close())
  return outbound
}
