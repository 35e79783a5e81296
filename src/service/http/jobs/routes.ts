// `/api/v1/jobs`: everything about jobs, from files that can also be loaded one by one.

import type { Routes } from '../app/parts.ts'
import { backfillRoutes } from '../../use-cases/jobs/backfill.ts'
import { controlRoutes } from '../../use-cases/jobs/control.ts'
import { insightRoutes } from '../../use-cases/jobs/insight.ts'
import { readRoutes } from '../../use-cases/jobs/read.ts'
import { writeRoutes } from '../../use-cases/jobs/write.ts'

export const jobRoutes: Routes = (app, parts) => {
  for (const add of [readRoutes, writeRoutes, controlRoutes, backfillRoutes, insightRoutes]) {
    add(app, parts)
  }
}
