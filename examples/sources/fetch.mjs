// Sources from files, fetched into tables: one by page number that fails once, one by cursor with a
// secret. `carillon source add definitions/` does the same to a service.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createScheduler } from 'carillon'
import { openShop } from './shop.mjs'

const token = 'only-the-environment-knows'
const shop = await openShop(token)

const scheduler = await createScheduler({
  jobs: [],
  store: `sqlite:${join(mkdtempSync(join(tmpdir(), 'sources-')), 'carillon.db')}`,
  sources: {
    // Internal hosts are refused unless they are named here.
    allowHosts: [shop.host],
    env: { CARILLON_SECRET_SHOP_TOKEN: token },
  },
  print: () => {},
}).start()
await scheduler.sources.limit('127.0.0.1', { limit: 100, period: '1m' })

const happenings = scheduler.events({ types: ['run.retrying', 'run.finished'] })

const folder = new URL('./definitions/', import.meta.url)
for (const file of readdirSync(folder)) {
  const document = parse(readFileSync(new URL(file, folder), 'utf8'))
  // The shop of this example has a port of its own.
  const url = document.url.replace('shop.example', shop.host)
  await scheduler.sources.add({ ...document, url })
}

// Three ends: both sources, and one of them once more, which changes nothing.
const ends = []
while (ends.length < 3) {
  const { value: event } = await happenings.next()
  if (event.type === 'run.retrying') {
    const minutes = Math.round((event.retryAt - event.at) / 60_000)
    console.log(
      `${event.name}: ${event.error.replace(/^\S+ /, '')}, next try in ${minutes} minutes`,
    )
    // Nobody wants to wait that long here.
    await scheduler.jobs.run(event.job)
    continue
  }
  console.log(`${event.name}: ${await told(event.run)}`)
  if (event.name === 'stock' && !ends.includes('stock')) await scheduler.jobs.run(event.job)
  ends.push(event.name)
}

const { lastSuccessAt, nextRunAt } = await scheduler.sources.get('stock')
console.log(
  `stock is next due ${Math.round((nextRunAt - lastSuccessAt) / 60_000)} minutes after its last success`,
)

for (const name of ['prices', 'stock']) {
  console.log(`${name}: ${await scheduler.sources.remove(name, { rows: true })} rows deleted`)
}
await scheduler.stop()
shop.close()

/** What the last attempt of a run fetched. */
async function told(run) {
  const { attempts } = await scheduler.runs.get(run)
  const { pages, records, rows_added: added } = attempts.at(-1).result
  return `${pages} pages, ${records} records, ${added} new rows`
}
