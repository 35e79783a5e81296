// Recurring workflow runs over REST: a workflow of two steps, scheduled every second, twice; its
// first run fails once and is retried.

import { fileURLToPath } from 'node:url'
import { startCarillon, until } from '../service.mjs'

const config = fileURLToPath(new URL('carillon.config.mjs', import.meta.url))
const { ask, stop } = await startCarillon(['--config', config])

await ask('POST', '/api/v1/workflows', {
  id: 1,
  name: 'Reports',
  trigger_nodes: [{ id: 'daily', kind: 'schedule', priority: 1 }],
  steps: [
    { id: 'collect', handler: 'collect', input: { day: { $from: 'event.payload.day' } } },
    {
      id: 'report',
      needs: ['collect'],
      handler: 'report',
      input: { $from: 'steps.collect' },
    },
  ],
})

const { id } = await ask('POST', '/api/v1/schedules/', {
  name: 'Daily report',
  workflow_id: 1,
  trigger_node_id: 'daily',
  interval_seconds: 1,
  total_repeats: 2,
  max_retries: 3,
  trigger_payload: { day: 'Monday' },
})
console.log('scheduled')

const done = await until(
  () => ask('GET', `/api/v1/schedules/${id}/`),
  ({ status }) => status === 'done',
)
console.log(`${done.status}: ${done.run_count} runs, ${done.error_count} error`)

const { items } = await ask('GET', `/api/v1/schedules/${id}/runs/`)
for (const run of items.toReversed()) {
  console.log(run.id.replace(id, '…'), run.status)
  for (const step of run.steps) console.log(' ', step.id, step.status, step.error ?? '')
}
await stop()
