// `/api/v1/system`: the nodes, their loops, the store, and what this process counted.

import { describeSystem, serving } from '../../use-cases/system/system.ts'
import type { Routes } from '../app/parts.ts'
import { resource } from '../app/resource.ts'

export const systemRoutes: Routes = (app, parts) => {
  serving.of(parts.engine)
  app.addHook('onClose', async () => serving.drop(parts.engine)?.counters.stop())
  routes(app, parts)
}

const routes = resource('/api/v1/system', 'system', [
  ['GET', '', 'The nodes, their loops, the store, and what this process counted', describeSystem],
])
