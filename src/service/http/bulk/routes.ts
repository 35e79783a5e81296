// `/api/v1/bulk`: one verb for many jobs or runs, in the background.

import { bulkWorkers, getBulk, startBulk, stopBulk } from '../../use-cases/bulk/bulk.ts'
import type { Routes } from '../app/parts.ts'
import { resource } from '../app/resource.ts'

export const bulkRoutes: Routes = (app, parts) => {
  app.addHook('preClose', async () => bulkWorkers.drop(parts.engine)?.close())
  routes(app, parts)
}

const routes = resource('/api/v1/bulk', 'bulk', [
  ['POST', '', 'One verb for many, in the background', startBulk],
  ['GET', '/:id', 'How far an operation is, and what did not work', getBulk],
  [
    'DELETE',
    '/:id',
    'Stop an operation after the batch it is at; what is done stays done',
    stopBulk,
  ],
])
