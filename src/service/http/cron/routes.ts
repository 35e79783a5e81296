// `/api/v1/cron/preview`: an expression explained before it is used.

import { previewCron } from '../../use-cases/cron/preview.ts'
import { resource } from '../app/resource.ts'

export const cronRoutes = resource('/api/v1/cron', 'time', [
  [
    'POST',
    '/preview',
    'What a cron expression means: words, moments, clock changes, advice, a comparison',
    previewCron,
  ],
])
