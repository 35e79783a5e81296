// One job, one schedule per customer, added while the program runs. The key is the identity:
// calling again with the same key edits the schedule, so this is safe on every start.

import * as z from 'zod'
import { createScheduler, daily, job } from 'carillon'

const customers = [
  { id: 'acme', zone: 'Europe/Berlin', at: '08:00' },
  { id: 'globex', zone: 'America/New_York', at: '08:00' },
  { id: 'initech', zone: 'Asia/Kolkata', at: '06:30' },
]

const digest = job('digest', {
  input: z.string(),
  run: async (customer, { job: row }) => `digest for ${customer} in ${row.tz}`,
})

const scheduler = await createScheduler({ jobs: [digest], store: 'memory:' }).start()

for (const { id, zone, at } of customers) {
  await scheduler.schedule('digest', {
    key: `customer:${id}`,
    when: daily(at, { tz: zone, on: ['mon', 'thu'] }),
    input: id,
    user: id,
  })
}

// Acme moves: the same key, so its schedule is edited and there are still three.
await scheduler.schedule('digest', {
  key: 'customer:acme',
  when: daily('08:00', { tz: 'Europe/London', on: ['mon', 'thu'] }),
  input: 'acme',
  user: 'acme',
})

for await (const { spec, declared } of scheduler.jobs.list({ definition: 'digest' })) {
  const { trigger } = spec
  if (trigger.kind !== 'cron') continue
  console.log(`${declared?.key}  ${trigger.expression}  ${trigger.zone}`)
}

await scheduler.stop()
