// A node without HTTP: it runs jobs of the store and is asked through other processes.

import { serviceLogger, systemIds } from '../compose.ts'
import { openDemo } from '../demo/demo.ts'
import type { StopResult } from '../engine/node.ts'
import { sourceOf } from './compat/crawl-jobs/flat.ts'
import { logService } from './service-log.ts'
import type { ConfigFile } from './config/config-file.ts'
import type { ServeConfig } from './config/config.ts'
import { openDataFolder } from './config/data-folder.ts'
import { openEngine, openPlaces, openWork, type Work } from './parts.ts'
import { stop } from './start.ts'

export interface WorkerNode {
  readonly nodeId: string
  readonly promise: string
  readonly handlers: readonly string[]
  /** Lets running jobs finish, then closes the store. */
  stop(): Promise<StopResult>
}

export async function startWorker(
  config: ServeConfig,
  handlers: ConfigFile['handlers'] = {},
): Promise<WorkerNode> {
  openDataFolder(config.data)
  const log = config.logLevel === 'silent' ? null : await serviceLogger(config.logLevel)
  const engine = await openEngine(config, systemIds())
  let work: Work | null = null
  let stopping: Promise<StopResult> | null = null
  try {
    const places = await openPlaces(config)
    work = openWork(engine, config, { ...places, handlers, log })
    await openDemo({ engine, workflows: work.workflows }, false)
    if (log !== null) {
      const { checkIntervalMs, lockDurationMs } = config
      logService(engine.events, log, { checkIntervalMs, lockDurationMs, sourceOf })
    }
    await engine.node.start()
    return {
      nodeId: engine.settings.nodeId,
      promise: engine.store.promise,
      handlers: engine.handlers.names,
      stop: () => (stopping ??= stop(engine, { app: null, work })),
    }
  } catch (error) {
    await stop(engine, { app: null, work, drainMs: 0 }).catch(() => {})
    throw error
  }
}
