// What was counted: jobs and runs of the store, and what the loop of this process did.

import type { Metrics, System } from '../../data/reads.ts'
import { countText, percentText, spanText } from '../../components/format.ts'
import { Facts, type Fact } from '../../components/facts.tsx'
import { Card } from '../../components/page.tsx'
import { Time } from '../../components/time.tsx'

export function Counts({ metrics: { jobs, executions, ...rest } }: { readonly metrics: Metrics }) {
  const active = jobs.pending + jobs.scheduled + jobs.running
  return (
    <Facts
      facts={[
        { name: 'Active jobs', value: countText(active) },
        { name: 'Paused', value: countText(jobs.paused) },
        { name: 'Failed', value: countText(jobs.failed), isBad: jobs.failed > 0 },
        { name: 'Runs ever', value: countText(executions.total) },
        { name: 'Succeeded', value: percentText(executions.success_rate) },
        { name: 'Took on average', value: spanText(executions.average_duration_ms) },
        { name: 'Leases of silent nodes cleared', value: countText(rest.stale_locks_cleared) },
        { name: 'As of', value: <Time at={rest.last_metrics_update} show="relative" /> },
      ]}
    />
  )
}

/** Should be none. */
function wrong(name: string, count: number): Fact {
  return { name, value: countText(count), isBad: count > 0 }
}

export function Counters({ counters }: { readonly counters: NonNullable<System['counters']> }) {
  const { errors } = counters
  return (
    <>
      <Card title="Loop of this process">
        <Facts
          facts={[
            { name: 'Ticks', value: countText(counters.ticks) },
            {
              name: 'A tick takes',
              value: counters.tick_ms_mean === null ? '–' : spanText(counters.tick_ms_mean),
            },
            { name: 'The longest took', value: spanText(counters.tick_ms_max) },
            { name: 'Claimed', value: countText(counters.claimed) },
            { name: 'Started', value: countText(counters.started) },
            { name: 'Settled', value: countText(counters.settled) },
            { name: 'Firings skipped', value: countText(counters.skipped) },
            { name: 'Pruned', value: countText(counters.pruned) },
          ]}
        />
      </Card>
      <Card title="Errors and contention">
        <Facts
          facts={[
            wrong('Store', errors.store),
            wrong('Claims', errors.claim),
            wrong('Writing outcomes', errors.record),
            wrong('Pushing tasks', errors.push),
            wrong('Schedules', errors.cron),
            { name: 'Recovered from an outage', value: countText(counters.recoveries) },
            { name: 'Leases lost to others', value: countText(counters.leases_lost) },
            { name: 'Leases of others ended', value: countText(counters.leases_reaped) },
            { name: 'Results that came too late', value: countText(counters.strays) },
          ]}
        />
      </Card>
    </>
  )
}
