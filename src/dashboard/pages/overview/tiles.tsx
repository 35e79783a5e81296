// The day in numbers; each leads to the list behind it.

import { useRead } from '../../data/read.ts'
import { reads, type Activity } from '../../data/reads.ts'
import { momentText, percentText, plural, shortCount } from '../../components/format.ts'
import { Bars } from '../../components/bars.tsx'
import { paths } from '../../paths.ts'
import { href } from '../../href.ts'
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
        label="Due within 1 h"
        value={due?.total}
        to={href(paths.jobs, { q: 'next:<1h', sort: 'next_run_at' })}
      />
      <DayTile day={day} />
      <Tile label="Paused" value={jobs?.paused} to={list('paused')} />
      <Tile label="Failed" value={jobs?.failed} to={list('failed')} family="failed" />
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
  const runs = (query: Record<string, string>) =>
    href(paths.runs, { ...query, since: day.complete_since, until: day.to })
  return (
    <div class="tile day">
      <div class="row between">
        <span class="tile-label">{isCut ? `Since ${since}` : 'Last 24 h'}</span>
        <span class="dim small numbers">
          {judged === 0 ? 'no runs' : `${percentText(day.completed / judged)} ok`}
        </span>
      </div>
      <p class="day-numbers">
        <RunNumber count={day.completed} name="completed" to={runs({ status: 'completed' })} />
        <RunNumber count={day.failed} name="failed" to={runs({ status: 'failed' })} isBad />
        {day.retried_attempts > 0 && (
          <a class="dim small" href={runs({ retried: 'true' })}>
            {plural(day.retried_attempts, 'failed attempt')} retried
          </a>
        )}
      </p>
      <Bars
        label={`${day.completed} runs completed and ${day.failed} failed, by half hours`}
        counts={day.buckets.map(({ completed, failed, other }) => completed + failed + other)}
        failed={day.buckets.map(({ failed }) => failed)}
        titleOf={at => {
          const { from, completed, failed } = day.buckets[at]!
          const when = momentText(Date.parse(from), { zone: zoneFor('UTC') })
          const retried = day.buckets[at]!.retried_attempts
          const more = retried === 0 ? '' : `, ${plural(retried, 'failed attempt')} retried`
          return `${when}: ${completed} completed, ${failed} failed${more}`
        }}
        height={34}
      />
    </div>
  )
}

interface NumberProps {
  readonly count: number
  readonly name: string
  readonly to: string
  /** Coloured when there is something. */
  readonly isBad?: boolean
}

/** A number that leads to exactly its rows. */
function RunNumber({ count, name, to, isBad = false }: NumberProps) {
  return (
    <a href={to}>
      <span class={`tile-value${isBad && count > 0 ? ' bad' : ''}`}>{shortCount(count)}</span>{' '}
      <span class="dim">{name}</span>
    </a>
  )
}
