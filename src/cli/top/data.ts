// What `carillon top` shows: the nodes, what runs and waits, what comes next.

import type { Metrics, RunDetail, Run, System, Upcoming } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { orNull } from '../find.ts'

const RUNS_MAX = 50
/** Progress is asked for run by run. */
const DETAILED_MAX = 20
const NEXT_MAX = 10

export interface Snapshot {
  readonly system: System
  readonly metrics: Metrics
  readonly runs: readonly (Run & Partial<Pick<RunDetail, 'progress'>>)[]
  readonly upcoming: Upcoming['upcoming']
}

export async function snapshotOf(client: Api, signal: AbortSignal): Promise<Snapshot> {
  const [system, metrics, runs, ahead] = await Promise.all([
    client.system({ signal }),
    client.metrics({ signal }),
    client.runs.list({ status: 'running,queued', limit: RUNS_MAX }, { signal }),
    client.upcoming({ limit: NEXT_MAX }, { signal }),
  ])
  const detailed = await Promise.all(
    runs.runs.map(async (run, i) => {
      const isAsked = run.status === 'running' && i < DETAILED_MAX
      // One that ended in between is told as it was.
      return (isAsked ? await orNull(client.runs.get(run.id, { signal })) : null) ?? run
    }),
  )
  return { system, metrics, runs: detailed, upcoming: ahead.upcoming }
}
