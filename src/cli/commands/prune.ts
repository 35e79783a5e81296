// `carillon prune`: takes away history that is old enough, now.

import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { parseDuration, type Instant } from '../../core/time.ts'
import type { Store } from '../../store/port.ts'
import { usage } from '../problem.ts'

const BATCH = 1_000
/** As nodes have it. */
const ENDED_TASKS_MAX = 100_000

export const command = define({
  name: 'prune',
  group: 'move',
  about: 'take away history that is old enough',
  flags: [
    {
      flags: '--older-than <age>',
      about: 'also everything that ended longer ago, such as 90d, whatever jobs keep',
    },
  ],
  isMutation: true,
  examples: [
    ['carillon prune --dry-run', 'how much retention would let go'],
    ['carillon prune --older-than 90d --yes', 'runs, logs and ended one-offs of long ago'],
  ],
  notes: 'Nodes prune by retention themselves. Living jobs stay, and so do their sums.',
  run: async (context, _, flags) => {
    const { storePlace, withStore } = await import('../keeping/store.ts')
    const age = ageOf(flags['olderThan'] as string | undefined)
    const place = await storePlace(context, 'prune')
    return withStore(place.url, async store => {
      const now = await store.now()
      const before = age === null ? null : now - age
      const counts = await counted(store, now, before)
      if (context.globals.isDryRun) {
        context.show({ dry_run: true, ...counts }, () => `would take away ${words(counts)}`)
        return exits.ok
      }
      const what = `Take away ${words(counts)} of ${place.name}?`
      if (before !== null && !(await context.confirm(what))) return exits.failed
      const done = await pruned(context, store, now, before)
      context.show(done, () => `took away ${words(done)}`)
      return exits.ok
    })
  },
})

interface Counts {
  readonly attempts: number
  readonly jobs: number
  readonly records: number
}

function ageOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = parseDuration(text)
  if (ms === null) throw usage(`--older-than must be an age (got ${text})`, 'such as 90d')
  return ms
}

function words({ attempts, jobs, records }: Counts): string {
  return `${attempts} runs and skips, ${jobs} ended jobs, ${records} records`
}

async function counted(store: Store, now: Instant, before: Instant | null): Promise<Counts> {
  const { endedBefore, expiredNow } = await import('../../doctor/expired.ts')
  const expired = await expiredNow(store, now)
  if (before === null) return expired
  let jobs = 0
  for await (const ids of endedBefore(store, before)) jobs += ids.length
  const attempts = (await store.maintenance.countOlderThan(before)) ?? 0
  return {
    attempts: Math.max(expired.attempts, attempts),
    jobs: Math.max(expired.jobs, jobs),
    records: expired.records,
  }
}

async function pruned(
  context: Context,
  store: Store,
  now: Instant,
  before: Instant | null,
): Promise<Counts> {
  const done = { attempts: 0, jobs: 0, records: 0 }
  for (let isFull = true; isFull;) {
    context.signal.throwIfAborted()
    const batch = await store.prune({ now, limit: BATCH, endedTasksMax: ENDED_TASKS_MAX })
    done.attempts += batch.attempts
    done.jobs += batch.jobs
    done.records += batch.records
    isFull = batch.isFull
  }
  if (before === null) return done
  done.jobs += await removeEnded(store, before)
  if ((await store.maintenance.countOlderThan(before)) === null) {
    context.say(`on ${store.kind} the history of living jobs goes by their retention only`)
    return done
  }
  for (let gone = BATCH; gone === BATCH;) {
    context.signal.throwIfAborted()
    gone = await store.maintenance.deleteOlderThan(before, BATCH)
    done.attempts += gone
  }
  return done
}

/** Found first and removed then: a list that is shortened while it is read skips some. */
async function removeEnded(store: Store, before: Instant): Promise<number> {
  const { endedBefore } = await import('../../doctor/expired.ts')
  const pages: string[][] = []
  for await (const ids of endedBefore(store, before)) pages.push(ids)
  let count = 0
  for (const ids of pages) count += (await store.remove(ids)).filter(Boolean).length
  return count
}
