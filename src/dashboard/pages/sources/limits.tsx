// How many requests a domain gets: what is set, set anew, and lifted.

import { useState } from 'preact/hooks'
import { act, useAction } from '../../data/act.ts'
import { api } from '../../data/api.ts'
import { reads, type SourceLimits } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { isAdmin } from '../../data/session.ts'
import { Empty, ProblemBox, Shown } from '../../components/conditions.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Rules, TextField } from '../../forms/field.tsx'
import { numberIn } from '../../forms/form-values.ts'
import { Icon } from '../../components/icon.tsx'
import { Card } from '../../components/page.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { toast } from '../../components/toasts.tsx'

type Limit = SourceLimits['items'][number]

const PAGE = 250

interface LimitsProps {
  readonly tenant: string | null
}

export function Limits({ tenant }: LimitsProps) {
  const limits = useRead(reads.sourceLimits({ tenant, limit: PAGE }))
  const [open, setOpen] = useState<Partial<Limit> | null>(null)
  const add = isAdmin.value && (
    <button type="button" class="button small" onClick={() => setOpen({})}>
      <Icon name="plus" /> Set a limit
    </button>
  )
  return (
    <Card title="Rate limits" isFlush aside={add}>
      <Shown read={limits}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No domain has a limit">
              A limit holds for a domain and the hosts below it, on all nodes together.
            </Empty>
          ) : (
            <Table
              caption="Requests a domain gets at most"
              columns={columnsOf(tenant, setOpen)}
              items={items}
              keyOf={one => one.domain}
            />
          )
        }
      </Shown>
      {open !== null && <LimitDialog tenant={tenant} limit={open} onClose={() => setOpen(null)} />}
    </Card>
  )
}

function columnsOf(
  tenant: string | null,
  onEdit: (limit: Limit) => void,
): readonly Column<Limit>[] {
  const shown: readonly Column<Limit>[] = [
    { key: 'domain', head: 'Domain', isMain: true, cell: one => one.domain },
    { key: 'limit', head: 'Limit', cell: one => `${one.limit} requests per ${one.period}` },
  ]
  if (!isAdmin.value) return shown
  const lift = ({ domain, limit, period }: Limit) => {
    const address = reads.sourceLimit(domain, { tenant })
    return act(() => api.delete(address), {
      done: `${domain} has no limit of its own`,
      undo: () => api.put(address, { limit, period }),
    })
  }
  const acts: Column<Limit> = {
    key: 'acts',
    head: 'Change',
    cell: one => (
      <span class="row">
        <button type="button" class="link" onClick={() => onEdit(one)}>
          Change<span class="away-from-sight"> the limit of {one.domain}</span>
        </button>
        <button type="button" class="link" onClick={() => void lift(one)}>
          Lift<span class="away-from-sight"> the limit of {one.domain}</span>
        </button>
      </span>
    ),
  }
  return [...shown, acts]
}

interface DialogProps extends LimitsProps {
  /** Without a domain it is a new one. */
  readonly limit: Partial<Limit>
  readonly onClose: () => void
}

function LimitDialog({ tenant, limit: start, onClose }: DialogProps) {
  const [domain, setDomain] = useState(start.domain ?? '')
  const [limit, setLimit] = useState(String(start.limit ?? 60))
  const [period, setPeriod] = useState(start.period ?? '1m')
  const { isBusy, problem, run } = useAction(async () => {
    const body = { limit: numberIn(limit), period }
    await api.put(reads.sourceLimit(domain.trim(), { tenant }), body)
    toast(`${domain} gets ${limit} requests per ${period}`)
    onClose()
  })
  const shown = ['domain', 'limit', 'period']
  const others = (problem?.errors ?? []).filter(({ field }) => !shown.includes(field))
  return (
    <Confirm
      title={start.domain === undefined ? 'Set a limit' : `Limit of ${start.domain}`}
      label="Set the limit"
      isBusy={isBusy}
      isReady={domain.trim() !== ''}
      onClose={onClose}
      onConfirm={() => void run()}
    >
      {start.domain === undefined && (
        <TextField
          label="Domain"
          value={domain}
          onChange={setDomain}
          placeholder="api.example.com"
          problem={problem}
          names={['domain']}
        />
      )}
      <div class="pair">
        <TextField
          label="Requests"
          type="number"
          value={limit}
          onChange={setLimit}
          problem={problem}
          names={['limit']}
        />
        <TextField
          label="In any"
          value={period}
          onChange={setPeriod}
          problem={problem}
          names={['period']}
          hint="30s, 1m, 1h, 1d"
        />
      </div>
      <Rules rules={others.map(({ field, rule }) => `${field} ${rule}`)} />
      {problem !== null && problem.errors.length === 0 && <ProblemBox problem={problem} />}
    </Confirm>
  )
}
