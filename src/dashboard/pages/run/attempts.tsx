// Every attempt of a run, the oldest first, with the wait before each.

import type { RunDetail } from '../../data/reads.ts'
import { spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Card } from '../../components/page.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

type Execution = RunDetail['executions'][number]

interface Row {
  readonly at: number
  readonly execution: Execution
  readonly waitedMs: number | null
}

const outcomes: Readonly<Record<string, string>> = {
  timedOut: 'timedOut',
  abandoned: 'abandoned',
  skipped: 'skipped',
  interrupted: 'Interrupted',
  deferred: 'Put off',
  released: 'Given back',
}

/** Only of runs in which something was measured. */
const measured: readonly Column<Row>[] = [
  {
    key: 'cpu',
    head: 'CPU',
    align: 'end',
    cell: ({ execution: { cpu_time_ms: ms } }) =>
      ms === null ? <span class="dim">–</span> : spanText(ms),
  },
  {
    key: 'memory',
    head: 'Memory',
    align: 'end',
    cell: ({ execution: { memory_peak_mb: mb } }) =>
      mb === null ? <span class="dim">–</span> : `${mb} MB`,
  },
]

const isMeasured = ({ execution: { cpu_time_ms, memory_peak_mb } }: Row) =>
  cpu_time_ms !== null || memory_peak_mb !== null

const columns: readonly Column<Row>[] = [
  { key: 'n', head: 'Attempt', isMain: true, cell: ({ at }) => `Attempt ${at}` },
  {
    key: 'status',
    head: 'Ended',
    cell: ({ execution: { status, outcome } }) => (
      <StateBadge state={(outcome !== null && outcomes[outcome]) || status} />
    ),
  },
  {
    key: 'waited',
    head: 'Wait before',
    align: 'end',
    cell: ({ waitedMs }) => (waitedMs === null ? <span class="dim">–</span> : spanText(waitedMs)),
  },
  {
    key: 'started',
    head: 'Started',
    cell: ({ execution }) => <Time at={execution.started_at} show="moment" hasSeconds />,
  },
  {
    key: 'took',
    head: 'Took',
    align: 'end',
    cell: ({ execution: { duration_ms } }) =>
      duration_ms === null ? <span class="dim">–</span> : spanText(duration_ms),
  },
  { key: 'node', head: 'Node', cell: ({ execution }) => execution.owner },
  {
    key: 'outcome',
    head: 'Error/Result',
    cell: ({ execution: { error_message, reason } }) => {
      const text = error_message ?? reason
      return text === null ? <span class="dim">–</span> : <span class="outcome">{text}</span>
    },
  },
]

/** Behind how long it took. */
const COSTS_AT = columns.findIndex(({ key }) => key === 'took') + 1

export function Attempts({ run }: { readonly run: RunDetail }) {
  const first = run.attempts - run.executions.length
  const rows = run.executions.map((execution, i): Row => {
    const before = run.executions[i - 1]?.completed_at ?? null
    const waitedMs =
      before === null ? null : Math.max(0, Date.parse(execution.started_at) - Date.parse(before))
    return { at: first + i + 1, execution, waitedMs }
  })
  if (rows.length === 0) return null
  return (
    <Card title="Attempts" wide isFlush>
      <Table
        caption="Attempts"
        columns={rows.some(isMeasured) ? columns.toSpliced(COSTS_AT, 0, ...measured) : columns}
        items={rows}
        keyOf={({ execution }) => execution.id}
      />
    </Card>
  )
}
