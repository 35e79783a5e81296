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
  'mixed-insert': more('Jobs that differ, inserted by a process of their own', 'jobs/s'),
  'mixed-memory': less('Memory of the process that drains jobs that differ', 'MiB'),
  'across-idle-p50': less('From one process to another, one job at a time, p50', 'ms'),
  'across-idle-p99': less('From one process to another, one job at a time, p99', 'ms'),
  'across-steady-p50': less('From one process to another, 500 jobs/s of 5 ms, p50', 'ms'),
  'across-steady-p99': less('From one process to another, 500 jobs/s of 5 ms, p99', 'ms'),
  'across-steady-cpu': less('CPU time of both processes and the server at 500 jobs/s', 'ms/s'),
  'across-quiet-cpu': less('CPU time of both processes and the server, no jobs', 'ms/s'),
  'across-quiet-statements': less('Statements of both processes, no jobs', '1/s'),
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
  [/^mixed-drained-(.+)$/, size => more(`Jobs that differ, drained; processes: ${size}`, 'jobs/s')],
  [
    /^mixed-cpu-(.+)$/,
    size => less(`CPU time of 1,000 jobs that differ, with the server; processes: ${size}`, 's'),
  ],
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
