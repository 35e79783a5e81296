// The rows of the comparison: their titles, units and which direction is better.

interface RowText {
  readonly title: string
  readonly unit: string
  readonly lowerIsBetter: boolean
}

const more = (title: string, unit: string): RowText => ({ title, unit, lowerIsBetter: false })
const less = (title: string, unit: string): RowText => ({ title, unit, lowerIsBetter: true })

const fixed: Readonly<Record<string, RowText>> = {
  'bulk-insert': more('Bulk insert', 'jobs/s'),
  'single-insert': more('Insert, one job a call, 50 calls in flight', 'jobs/s'),
  runs: more('Claim to settle of no-op jobs', 'runs/s'),
  'runs-unkept': more('Claim to settle of no-op jobs that leave nothing in history', 'runs/s'),
  'latency-p50': less('From asking to start on an idle worker, p50', 'ms'),
  'latency-p99': less('From asking to start on an idle worker, p99', 'ms'),
  flood: less('Wait of a user’s only job behind another user’s flood', 'ms'),
  'cron-next': more('Cron next-times with a time zone, geometric mean', 'next/s'),
  'api-post': more('POST /api/v1/jobs, 20 connections', 'requests/s'),
  'api-get': more('GET /api/v1/jobs/{id}, 20 connections', 'requests/s'),
}

const sized: readonly (readonly [RegExp, (size: string) => RowText])[] = [
  [/^create-(.+)$/, size => less(`Creating ${size} schedules`, 's')],
  [/^memory-(.+)$/, size => less(`Memory of the process with ${size} schedules`, 'MiB')],
  [/^idle-(.+)$/, size => less(`CPU time while ${size} schedules wait`, 'ms/s')],
  [/^late-p50-(.+)$/, size => less(`Start lateness of ${size} schedules due together, p50`, 'ms')],
  [/^late-p99-(.+)$/, size => less(`Start lateness of ${size} schedules due together, p99`, 'ms')],
  [/^backlog-(.+)$/, size => more(`First runs with ${size} queued`, 'runs/s')],
  [/^nodes-(.+)$/, size => more(`Runs on one PostgreSQL, nodes: ${size}`, 'runs/s')],
]

export function describeRow(id: string): RowText {
  const known = fixed[id]
  if (known) return known
  for (const [pattern, text] of sized) {
    const found = pattern.exec(id)
    if (found) return text(spelled(found[1]!))
  }
  throw new Error(`a row nobody described: ${id}`)
}

function spelled(size: string): string {
  const unit = size.at(-1)
  const times = unit === 'k' ? 1_000 : unit === 'm' ? 1_000_000 : 1
  return (Number.parseFloat(size) * times).toLocaleString('en')
}
