// What runs now, against how long it usually takes.

import { second } from '../../clock.ts'
import { useRead, type Concerns } from '../../data/read.ts'
import { reads, type Run, type Slot } from '../../data/reads.ts'
import { isOperator } from '../../data/session.ts'
import { jobActions } from '../../jobs/job-actions.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { spanText } from '../../components/format.ts'
import { Card } from '../../components/page.tsx'
import { JobLink } from '../../components/links.tsx'

const SHOWN = 10
const ofRuns: Concerns = ({ type }) => type === 'run.started' || type === 'run.finished'

export function RunningCard() {
  const read = useRead(reads.runs({ status: 'running', limit: SHOWN }), ofRuns)
  const ids = [...new Set(read.data?.runs.map(({ job_id }) => job_id))].sort()
  const { data: known } = useRead(reads.heartbeats(ids, 30), () => false)
  const usual = new Map(known?.heartbeats.map(({ job_id, slots }) => [job_id, usualOf(slots)]))
  return (
    <Card title="Running now" isFlush>
      <Shown read={read}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title="Nothing runs at this moment" />
          ) : (
            <ul class="running">
              {runs.map(run => (
                <Line key={run.id} run={run} usual={usual.get(run.job_id) ?? null} />
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  )
}

interface Usual {
  readonly p50: number
  readonly p95: number
}

export function usualOf(slots: readonly Slot[]): Usual | null {
  const took = slots
    .filter(({ ok, duration_ms }) => ok > 0 && duration_ms !== null)
    .map(({ duration_ms }) => duration_ms!)
    .sort((a, b) => a - b)
  if (took.length < 3) return null
  const at = (share: number) => took[Math.max(0, Math.ceil(took.length * share) - 1)]!
  return { p50: at(0.5), p95: at(0.95) }
}

function Line({ run, usual }: { readonly run: Run; readonly usual: Usual | null }) {
  const since = run.started_at === null ? 0 : Math.max(0, second.value - Date.parse(run.started_at))
  const isLong = usual !== null && since > usual.p95
  return (
    <li>
      <div class="row between">
        <span class="cut-text">
          <JobLink id={run.job_id} name={run.job_name} />{' '}
          <span class="dim small">{run.tenant}</span>
        </span>
        <span class="row">
          <span class={`numbers small${isLong ? ' bad' : ''}`}>
            {spanText(since, { isCoarse: true })}
            {usual !== null && <span class="dim"> of ~{spanText(usual.p50)}</span>}
          </span>
          {isOperator.value && (
            <button
              type="button"
              class="button small"
              onClick={() => void jobActions.cancelRun(run.id)}
            >
              Cancel<span class="away-from-sight"> the run of {run.job_name}</span>
            </button>
          )}
        </span>
      </div>
      <Gauge since={since} usual={usual} />
    </li>
  )
}

/** How far it is, with marks where half and nearly all of its runs were done. */
function Gauge({ since, usual }: { readonly since: number; readonly usual: Usual | null }) {
  if (usual === null) return <div class="gauge-none" />
  const whole = Math.max(usual.p95 * 1.25, since)
  const x = (ms: number) => (ms / whole) * 100
  return (
    <svg class="gauge" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" x="0" y="1" width="100" height="4" rx="2" />
      <rect
        class={since > usual.p95 ? 'done long' : 'done'}
        x="0"
        y="1"
        width={x(since)}
        height="4"
        rx="2"
      />
      <rect class="tick" x={x(usual.p50)} y="0" width="0.4" height="6" />
      <rect class="tick" x={Math.min(99.6, x(usual.p95))} y="0" width="0.4" height="6" />
    </svg>
  )
}
