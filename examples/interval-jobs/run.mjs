// Crawl jobs over REST: one that runs at once, its executions, what it found; one every 30 minutes
// that is paused, resumed and run by hand.

import { startCarillon, until } from '../service.mjs'
import { startSite } from './site.mjs'

const site = await startSite()
// Jobs reach internal addresses only where the operator allows it.
const { ask, stop } = await startCarillon(['--allow-hosts', site.host])

const once = await ask('POST', '/api/v1/jobs', { source_name: 'bells', url: site.url })
console.log('created:', once.status)
const finished = await until(
  () => ask('GET', `/api/v1/jobs/${once.id}`),
  ({ status }) => status === 'completed' || status === 'failed',
)
const { executions } = await ask('GET', `/api/v1/jobs/${once.id}/executions`)
const [first] = executions
console.log(`${finished.status}: ${first.items_crawled} pages, ${first.items_indexed} indexed`)

const found = await ask('GET', '/api/v1/search?q=23%20bells')
console.log('found:', found.pages.map(page => page.title).join(', '))

const every = await ask('POST', '/api/v1/jobs', {
  source_name: 'bells',
  url: site.url,
  interval_minutes: 30,
  interval_type: 'minutes',
  schedule_enabled: true,
})
const wait = (Date.parse(every.next_run_at) - Date.parse(every.created_at)) / 60_000
console.log(`${every.status}: first run in ${wait} minutes`)

const paused = await ask('POST', `/api/v1/jobs/${every.id}/pause`)
console.log(paused.status, paused.next_run_at)
const resumed = await ask('POST', `/api/v1/jobs/${every.id}/resume`)
console.log(resumed.status)

await ask('POST', `/api/v1/jobs/${every.id}/run`)
const stats = await until(
  () => ask('GET', `/api/v1/jobs/${every.id}/stats`),
  ({ success_rate: rate }) => rate > 0,
)
console.log(`success rate ${stats.success_rate}`)
const after = await ask('GET', `/api/v1/jobs/${every.id}`)
console.log('the schedule did not move:', after.next_run_at === resumed.next_run_at)

await stop()
await site.stop()
