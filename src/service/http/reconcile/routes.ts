// `/api/v1/reconcile`: the jobs a program declares, compared with the stored ones, and applied.

import { reconcile } from '../../use-cases/reconcile/reconcile.ts'
import { resource } from '../app/resource.ts'

export const reconcileRoutes = resource('/api/v1/reconcile', 'bulk', [
  [
    'POST',
    '',
    'Compare declared jobs of a label with the stored ones, or make them match',
    reconcile,
  ],
])
