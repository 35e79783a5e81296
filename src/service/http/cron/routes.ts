// `/api/v1/cron/preview`: an expression explained before it is used.

import type { Routes } from '../app/parts.ts'
import { preview, previewAnswer, previewBody } from '../../use-cases/cron/preview.ts'

export const cronRoutes: Routes = (app, { engine }) => {
  app.route({
    method: 'POST',
    url: '/api/v1/cron/preview',
    config: { access: 'viewer' },
    schema: {
      tags: ['time'],
      summary: 'What a cron expression means: words, moments, clock changes, advice, a comparison',
      body: previewBody,
      response: { 200: previewAnswer },
    },
    handler: async request => preview(request.body, engine.clock.now()),
  })
}
