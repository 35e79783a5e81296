// The day in numbers; each leads to the list behind it.

import { useRead } from '../../data/read.ts'
import { reads, type Activity } from '../../data/reads.ts'
import { momentText, percentText, shortCount } from '../../parts/format.ts'
import { Bars } from '../../parts/small.tsx'
import { paths } from '../../paths.ts'
import { href } from '../../place.ts'
import { zoneFor } from '../../view.ts'

const list = (status: string) => href(paths.jobs, { q: `status:${status}` })

export function Tiles() {
  const { data: counts } = useRead(reads.metrics())
  const { data: day } = useRead(reads.activity(24))
  const { data: due } = useRead(reads.jobs({ next: '<1h', limit: 1 }))
  const jobs = counts?.jobs
  const active = jobs && jobs.scheduled + jobs.pending + jobs.running
  return (
    <section class="tiles" aria-label="Numbers">
      <Tile label="Active jobs" value={active} to={list('pending,scheduled,running')} />
      <Tile label="Running" value={jobs?.running} to={list('running')} family="running" />
      <Tile
        label="Jobs due within 1 h"
        value={due?.total}
        to={href(paths.jobs, { q: 'next:<1h', sort: 'next_run_at' })}
      />
      <DayTile day={day} />
      <Tile label="Paused" value={jobs?.paused} to={list('paused')} />
      <Tile label="Given up" value={jobs?.failed} to={list('failed')} family="failed" />
    </section>
  )
}

interface TileProps {
  readonly label: string
  readonly value: number | undefined
  readonly to: string
  /** Coloured when there is something. */
  readonly family?: 'running' | 'failed'
}

function Tile({ label, value, to, family }: TileProps) {
  const look = family !== undefined && value !== undefined && value > 0 ? ` s-${family} lit` : ''
  return (
    <a class={`tile${look}`} href={to}>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value === undefined ? '…' : shortCount(value)}</span>
    </a>
  )
}

function DayTile({ day }: { readonly day: Activity | undefined }) {
  if (day === undefined) return <div class="tile day" />
  const judged = day.completed + day.failed
  const isCut = day.complete_since !== day.from
  const since = momentText(Date.parse(day.complete_since), { zone: zoneFor('UTC') })
  return (
    <div class="tile day">
      <div class="row between">
        <span class="tile-label">{isCut ? `Since ${since}` : 'Last 24 h'}</span>
        <span class="dim small numbers">
          {judged === 0 ? 'no runs' : `${percentText(day.completed / judged)} ok`}
        </span>
      </div>
      <div class="row">
        <span class="tile-value">{shortCount(day.completed)}</span>
        <span class="dim">completed</span>
        <span class={`tile-value${day.failed > 0 ? ' bad' : ''}`}>{shortCount(day.failed)}</span>
        <span class="dim">failed</span>
      </div>
      <Bars
        label={`${day.completed} completed and ${day.failed} failed, by half hours`}
        counts={day.buckets.map(({ completed, failed, other }) => completed + failed + other)}
        failed={day.buckets.map(({ failed }) => failed)}
        titleOf={at => {
          const { from, completed, failed } = day.buckets[at]!
          const when = momentText(Date.parse(from), { zone: zoneFor('UTC') })
          return `${when}: ${completed} completed, ${failed} failed`
        }}
        height={34}
      />
    </div>
  )
}
