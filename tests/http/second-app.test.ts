// An app neither opens nor closes its engine: another one over the same engine works as the first did.

import { expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../src/service/http/app/app.ts'
import { startService } from './service.ts'

it('an app works after an earlier one over its engine was closed', async () => {
  const service = await startService()
  const bulk = { action: 'pause', ids: ['nobody'] }
  const claim = { worker: 'w', limit: 1 }
  const admin = service.as('admin', '*')
  expect((await admin.post('/api/v1/bulk', bulk)).status).toBe(202)
  expect((await admin.post('/api/v1/tasks/claim', claim)).status).toBe(200)
  await service.app.close()
  const app = await createApp(service.parts)
  onTestFinished(() => app.close())
  const authorization = `Bearer ${await service.token('admin', '*')}`
  const post = async (url: string, payload: object) => {
    const answer = await app.inject({ method: 'POST', url, headers: { authorization }, payload })
    await service.clock.settle()
    return answer.statusCode
  }
  expect(await post('/api/v1/bulk', bulk)).toBe(202)
  expect(await post('/api/v1/tasks/claim', claim)).toBe(200)
})
