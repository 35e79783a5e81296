// Jobs declared in code: checked input, retries, a typed trigger, and an answer to "why?".

import * as z from 'zod'
import { createScheduler, cron, job, NoRetry } from 'carillon'

const invoice = job('invoice', {
  input: z.object({ customer: z.string(), cents: z.number().int().positive() }),
  schedule: cron('0 7 1 * *', { tz: 'Europe/Berlin' }),
  payload: { customer: 'all', cents: 100 },
  retry: { limit: 3, base: '1s' },
  async run({ customer, cents }, { run, log, idempotencyKey }) {
    if (customer === 'nobody') throw new NoRetry('there is no such customer')
    if (run.attempt === 1) throw new Error('the bank did not answer')
    log.info('paid', { customer, cents, idempotencyKey })
    return { customer, attempts: run.attempt }
  },
})

const scheduler = await createScheduler({ jobs: [invoice], store: 'memory:' }).start()

const why = await scheduler.why('invoice')
console.log(why.verdict)

const paid = await scheduler.trigger('invoice', { customer: 'acme', cents: 4_200 })
console.log('result:', await paid.result())

const refused = await scheduler.trigger('invoice', { customer: 'nobody', cents: 1 })
await refused.result().catch(error => console.log('failed:', error.message))

await scheduler
  .trigger('invoice', { customer: 'acme', cents: -1 })
  .catch(error => console.log(`${error.code}: ${error.problems[0].field}`))

const { clean } = await scheduler.stop()
console.log('clean stop:', clean)
