// Starting, a hundred executions at once, and a cancel that another node must hear of.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../tests/support/servers/wait.ts'
import { inFolder, median, type Figure } from '../support.ts'
import type { Ground } from '../ground.ts'
import { openSite, type Site } from './rig.ts'

const START_MAX_MS = 1_000
const CANCEL_MAX_MS = 2_000
const AT_ONCE = 100

export function starting(ground: Ground, rounds: number): Promise<Figure[]> {
  return ground.fresh(url =>
    inFolder(async folder => {
      const taken: number[] = []
      // The first one makes the tables; a start after it finds them.
      for (let round = 0; round <= rounds; round++) {
        const site = await openSite(join(folder, 'a'), url)
        taken.push(site.startedMs)
        await site.stop()
      }
      const bar = { unit: 'ms', target: START_MAX_MS, lowerIsBetter: true }
      return [
        { name: 'start, empty store', value: taken[0]!, ...bar },
        { name: 'start, store made before', value: median(taken.slice(1)), ...bar },
      ]
    }),
  )
}

export function atOnce(ground: Ground): Promise<Figure[]> {
  return ground.fresh(url =>
    inFolder(async folder => {
      const site = await openSite(folder, url)
      try {
        const from = performance.now()
        const made = Array.from({ length: AT_ONCE }, () =>
          site.post('/api/v1/jobs', { handler: 'nap' }),
        )
        await Promise.all(made)
        const running = await eventually('all run at once', async () => {
          const { body } = await site.get('/api/v1/scheduler/metrics')
          const { running: now } = body['jobs'] as { running: number }
          return now === AT_ONCE ? now : null
        })
        const tookMs = performance.now() - from
        const name = 'executions at once in one node'
        const note = `${Math.round(tookMs)} ms from the first POST until all run`
        return [{ name, value: running, unit: '', target: AT_ONCE, note }]
      } finally {
        await site.stop()
      }
    }),
  )
}

/** One node takes the cancel, the other one runs the job. */
export function cancelling(ground: Ground, rounds: number): Promise<Figure[]> {
  return ground.fresh(url =>
    inFolder(async folder => {
      const worker = await openSite(join(folder, 'worker'), url)
      const front = await openSite(join(folder, 'front'), url, ['--no-worker'])
      try {
        const taken: number[] = []
        for (let round = 1; round <= rounds; round++) {
          taken.push(await cancelled(front, join(folder, 'worker', 'aborted'), round))
        }
        const value = Math.max(...taken)
        const note = `longest of ${rounds}; median ${Math.round(median(taken))} ms`
        const bar = { unit: 'ms', target: CANCEL_MAX_MS, lowerIsBetter: true }
        return [{ name: 'cancel of a job that runs on another node', value, ...bar, note }]
      } finally {
        await front.stop()
        await worker.stop()
      }
    }),
  )
}

async function cancelled(front: Site, file: string, round: number): Promise<number> {
  const { body } = await front.post('/api/v1/jobs', { handler: 'hold' })
  const path = `/api/v1/jobs/${String(body['id'])}`
  await eventually('it runs', async () => {
    const job = await front.get(path)
    return job.body['status'] === 'running' ? true : null
  })
  const from = Date.now()
  await front.post(`${path}/cancel`)
  const at = await eventually('the handler hears of it', () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.length >= round ? Number(lines[round - 1]) : null
  })
  return at - from
}
