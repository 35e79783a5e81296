// A job's past: one mark for each decision, how long its runs took, how late they began.

import { ofJob, useRead } from '../../data/read.ts'
import { reads, type Job, type Run, type Stats } from '../../data/reads.ts'
import { PointsChart, type Point } from '../../components/chart.tsx'
import { Empty, Shown } from '../../components/conditions.tsx'
import { countText, momentText, percentText, spanText } from '../../components/format.ts'
import { HeartbeatBar, heartbeatSummary } from '../../components/heartbeat.tsx'
import { LatenessChart } from '../../components/lateness.tsx'
import { Card } from '../../components/page.tsx'
import { zoneOf } from '../../components/schedule.tsx'
import { runHref } from '../../components/links.tsx'
import { Segments } from '../../components/segments.tsx'
import { Time } from '../../components/time.tsx'
import { useView } from '../../components/view-state.ts'
import { paths } from '../../paths.ts'
import { href } from '../../href.ts'

const ranges = [
  ['30', '30'],
  ['60', '60'],
  ['120', '120'],
  ['250', '250'],
] as const

export function HeartbeatCard({ job }: { readonly job: Job }) {
  const view = useView()
  const range = ranges.find(([value]) => value === view.get('marks'))?.[0] ?? '60'
  const size = Number(range)
  const read = useRead(reads.heartbeat(job.id, size), ofJob(job.id))
  const { data: stats } = useRead(reads.stats(job.id), ofJob(job.id))
  const zone = zoneOf(job.trigger)
  return (
    <Card
      title="Heartbeat"
      aside={
        <Segments
          label="Decisions shown"
          value={range}
          options={ranges}
          onChange={value => view.set({ marks: value === '60' ? null : value })}
        />
      }
    >
      <Shown read={read} lines={1}>
        {({ slots }) => (
          <div class="stack tight">
            <HeartbeatBar
              slots={slots}
              size={size}
              zone={zone}
              graceMs={job.grace_seconds * 1_000}
              hrefOf={({ run_id }) => (run_id === null ? null : runHref(run_id))}
            />
            <div class="row between dim small">
              {slots[0] ? <Time at={slots[0].from} zone={zone} show="moment" /> : <span />}
              <span>{slots.length === 0 ? 'No firing yet' : heartbeatSummary(slots)}</span>
              <span>now</span>
            </div>
            {stats && <StatFigures job={job} stats={stats} />}
          </div>
        )}
      </Shown>
    </Card>
  )
}

/** Runs are counted among those that are kept, so that each number leads to its rows. */
function StatFigures({ job, stats }: { readonly job: Job; readonly stats: Stats }) {
  const { total_runs: begun, total_executions: attempts, runs } = stats
  if (begun === 0 && attempts === 0) return null
  const list = (query: Record<string, string>) => href(paths.runs, { job: job.id, ...query })
  const rate = runs.success_rate
  const since = runs.since === null ? null : momentText(Date.parse(runs.since), { zone: 'UTC' })
  return (
    <>
      <dl class="figures">
        <Figure name="runs in all" value={countText(begun)} />
        <Figure
          name="completed"
          value={countText(runs.completed)}
          to={list({ status: 'completed' })}
        />
        <Figure name="failed" value={countText(runs.failed)} to={list({ status: 'failed' })} />
        {runs.retried_attempts > 0 && (
          <Figure
            name="failed attempts retried"
            value={countText(runs.retried_attempts)}
            to={list({ retried: 'true' })}
          />
        )}
        {rate !== null && <Figure name="succeeded" value={percentText(rate)} />}
        <Figure name="occurrences skipped" value={countText(stats.skipped_occurrences)} />
        {attempts > 0 && <Figure name="mean" value={spanText(stats.average_duration_ms)} />}
      </dl>
      {since !== null && (
        <p class="dim small">
          {runs.is_cut ? 'Of the newest runs' : 'Of the runs that are kept'}, since {since}.
        </p>
      )}
    </>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  /** The rows that are counted. */
  readonly to?: string
}

function Figure({ name, value, to }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{to === undefined ? value : <a href={to}>{value}</a>}</dd>
    </div>
  )
}

const READ = 200

export function DurationsCard({ job }: { readonly job: Job }) {
  const read = useRead(reads.runs({ job: job.id, limit: READ }), ofJob(job.id))
  return (
    <Card title="Duration" aside="the newest 200 runs">
      <Shown read={read}>
        {({ runs }) => {
          const points = runs.flatMap(pointOf)
          if (points.length === 0) return <Empty title="No run has ended yet" />
          return <Durations points={points} />
        }}
      </Shown>
    </Card>
  )
}

function pointOf({ started_at, duration_ms, status }: Run): Point[] {
  if (started_at === null || duration_ms === null) return []
  return [{ at: Date.parse(started_at), ms: duration_ms, isFailed: status === 'failed' }]
}

function Durations({ points }: { readonly points: readonly Point[] }) {
  const took = points.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number) => took[Math.max(0, Math.ceil(took.length * share) - 1)]!
  const [p50, p95] = [at(0.5), at(0.95)]
  return (
    <div class="stack">
      <dl class="figures">
        <Figure name="p50" value={spanText(p50)} />
        <Figure name="p95" value={spanText(p95)} />
        <Figure name="longest" value={spanText(took.at(-1)!)} />
      </dl>
      <PointsChart
        label={`${points.length} runs: half took up to ${spanText(p50)}, 95 % up to ${spanText(p95)}`}
        points={points}
        levels={[
          { ms: p50, isDashed: false },
          { ms: p95, isDashed: true },
        ]}
      />
    </div>
  )
}

export function JobLatenessCard({ job }: { readonly job: Job }) {
  const read = useRead(reads.lateness(job.id), ofJob(job.id))
  return (
    <Card title="Lateness" aside={`grace ${spanText(job.grace_seconds * 1_000)}`}>
      <Shown read={read}>
        {lateness =>
          lateness.count === 0 ? (
            <Empty title="No scheduled run yet" />
          ) : (
            <LatenessChart lateness={lateness} missed={lateness.missed} />
          )
        }
      </Shown>
    </Card>
  )
}
