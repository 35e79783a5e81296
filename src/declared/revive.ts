// A task that was set aside because its processes died over and over: every start of a program is a
// new chance for it, once.

import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Engine } from '../create-engine.ts'

/** Those set aside already, and once each those whose last lease has yet to be reaped. */
export async function reviveAll(engine: Engine, app: string): Promise<void> {
  const revived = new Set<string>()
  engine.events.on('reaped', ({ jobs }) => {
    for (const job of jobs.filter(one => isSetAside(one, app) && !revived.has(one.id))) {
      revived.add(job.id)
      void revive(engine, job).catch((error: unknown) => {
        engine.events.emit('error', { kind: 'store', error, during: `revival of ${job.id}` })
      })
    }
  })
  const page = { limit: limits.pageMax }
  for (;;) {
    const { items } = await engine.store.list({ app, states: ['failed'] }, page)
    if (items.length === 0) return
    for (const job of items) await revive(engine, job)
  }
}

function isSetAside(job: Job, app: string): boolean {
  return job.state === 'failed' && job.declared?.app === app
}

async function revive({ client }: Engine, { id }: Job): Promise<void> {
  try {
    await client.retry(id)
  } catch (error) {
    // Another process was first, or declares the task no longer.
    const isOver =
      error instanceof SchedulerError &&
      (error.code === 'TRANSITION_INVALID' || error.code === 'JOB_NOT_FOUND')
    if (!isOver) throw error
  }
}
