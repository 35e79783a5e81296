// A real node over a memory store that runs actions, and waiting for what it did.

import { onTestFinished } from 'vitest'
import { AllowList } from '../../src/actions/guard/allow.ts'
import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import type { Json } from '../../src/core/json.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import type { LogLine } from '../../src/store/port.ts'
import { eventually } from '../support/servers/wait.ts'

export interface TestNode {
  readonly engine: Engine
  readonly settled: { readonly job: Job; readonly attempt: Attempt }[]
  readonly logged: LogLine[]
  create(spec: Partial<SpecInput> & { handler: string; payload?: Json }): Promise<Job>
  /** The first so many attempts, once they are settled. */
  attempts(count: number): Promise<readonly Attempt[]>
}

export async function startNode(
  handlers: ReadonlyMap<string, Handler>,
  settings: Partial<EngineSettings> = {},
): Promise<TestNode> {
  const store = new MemoryStore(() => systemClock.now())
  await store.open()
  const engine = createEngine({
    store,
    clock: systemClock,
    ids: new SystemIds(),
    settings: { nodeId: 'test', cancelCheckMs: 50, ...settings },
  })
  for (const [name, handler] of handlers) engine.handlers.set(name, handler)
  const settled: TestNode['settled'] = []
  const logged: LogLine[] = []
  engine.events.on('settled', event => {
    for (const { job, attempt } of event.settled) if (attempt) settled.push({ job, attempt })
  })
  engine.events.on('logged', ({ line }) => logged.push(line))
  await engine.node.start()
  onTestFinished(async () => {
    await engine.node.stop(0)
    await store.close()
  })
  return {
    engine,
    settled,
    logged,
    create: spec => created(engine, spec),
    attempts: async count => {
      await eventually(`${count} attempts`, () => settled.length >= count || null)
      return settled.slice(0, count).map(({ attempt }) => attempt)
    },
  }
}

async function created(
  engine: Engine,
  spec: Partial<SpecInput> & { handler: string },
): Promise<Job> {
  const now = systemClock.now()
  const trigger = { kind: 'once', at: now } as const
  const id = `job-${engine.ids.next(now)}`
  const [made] = await engine.client.create([{ id, spec: completeSpec({ trigger, ...spec }) }])
  return made!.job
}

export function allow(...entries: string[]): AllowList {
  return AllowList.parse(entries).list
}

/** Retries as soon as possible. */
export const eager = {
  limit: 3,
  backoff: { kind: 'fixed', delayMs: 0 },
  resetAfterMs: null,
  exhausted: 'stop',
  yields: false,
} as const
