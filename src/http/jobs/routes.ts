// `/api/v1/jobs`: everything about jobs, from files that can also be loaded one by one.

import type { Routes } from '../app/parts.ts'
import { backfillRoutes } from './backfill.ts'
import { controlRoutes } from './control.ts'
import { insightRoutes } from './insight.ts'
import { readRoutes } from './read.ts'
import { writeRoutes } from './write.ts'

export const jobRoutes: Routes = (app, parts) => {
  for (const add of [readRoutes, writeRoutes, controlRoutes, backfillRoutes, insightRoutes]) {
    add(app, parts)
  }
}
