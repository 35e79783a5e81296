// One verb for many jobs: the selected ones, or all that match the filter.

import { useEffect, useState } from 'preact/hooks'
import { every } from '../../clock.ts'
import { useAction } from '../../data/act.ts'
import { api, url } from '../../data/api.ts'
import { never, refreshAll, useRead } from '../../data/read.ts'
import { reads, type Operation } from '../../data/reads.ts'
import { isAdmin } from '../../data/session.ts'
import { PauseDialog } from '../../jobs/pause-dialog.tsx'
import { ProblemBox } from '../../components/conditions.tsx'
import { Confirm, Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../forms/field.tsx'
import { countText, plural } from '../../components/format.ts'
import { useView } from '../../components/view-state.ts'
import { parseFilter, type JobFilter } from './filter.ts'

type Verb = 'run' | 'pause' | 'resume' | 'retry' | 'cancel' | 'delete'

const verbs: readonly (readonly [Verb, string])[] = [
  ['run', 'Run now'],
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['retry', 'Start over'],
  ['cancel', 'Cancel'],
]

const effects: Readonly<Record<Verb, string>> = {
  run: 'Each runs once, beside its schedule.',
  pause: 'They do not fire until they are resumed.',
  resume: 'They fire again, from their next moment on.',
  retry: 'Failed jobs start over at once; others are refused.',
  cancel: 'They will not fire again; runs under way are aborted.',
  delete: 'They and the history of their runs are gone for good.',
}

/** More than this many are not deleted without a second thought. */
const TYPED_FROM = 10

interface BulkProps {
  readonly ids: readonly string[]
  readonly total: number
  readonly isAll: boolean
  readonly onAll: () => void
  readonly onClear: () => void
}

export function BulkBar({ ids, total, isAll, onAll, onClear }: BulkProps) {
  const [verb, setVerb] = useState<Verb | null>(null)
  const [operation, setOperation] = useState<{ id: string; verb: Verb } | null>(null)
  const view = useView()
  const count = isAll ? total : ids.length
  const filter = parseFilter(view.get('q') ?? '').filter
  const target = isAll ? { filter: bulkFilter(filter), expect: total } : { ids }
  const { isBusy, problem, run } = useAction(async (more: object) => {
    const made = await api.post(url<Operation>('/bulk'), { action: verb, ...target, ...more })
    setOperation({ id: made.id, verb: verb! })
    setVerb(null)
  })
  const closeProgress = () => {
    if (operation?.verb === 'delete') onClear()
    setOperation(null)
  }
  const asked = { count, isBusy, problem, onClose: () => setVerb(null) }
  return (
    <div class="bulk" role="region" aria-label="Selected jobs">
      <strong>{countText(count)} selected</strong>
      {!isAll && total > ids.length && (
        <button type="button" class="link" onClick={onAll}>
          Select all {countText(total)} that match
        </button>
      )}
      <span class="grow" />
      {verbs.map(([one, label]) => (
        <button key={one} type="button" class="button small" onClick={() => setVerb(one)}>
          {label}
        </button>
      ))}
      {isAdmin.value && (
        <button type="button" class="button small" onClick={() => setVerb('delete')}>
          Delete
        </button>
      )}
      <button type="button" class="link" onClick={onClear}>
        Clear
      </button>
      {verb === 'pause' && (
        <PauseDialog what={plural(count, 'job')} {...asked} onPause={given => void run(given)} />
      )}
      {verb !== null && verb !== 'pause' && (
        <VerbDialog verb={verb} {...asked} onConfirm={() => void run({})} />
      )}
      {operation !== null && <Progress id={operation.id} onClose={closeProgress} />}
    </div>
  )
}

function bulkFilter({ status, ...rest }: JobFilter): Readonly<Record<string, unknown>> {
  const given = Object.entries(rest).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(given),
    ...(status === null ? {} : { status: status.split(',') }),
  }
}

interface VerbProps {
  readonly verb: Exclude<Verb, 'pause'>
  readonly count: number
  readonly isBusy: boolean
  readonly problem: ReturnType<typeof useAction>['problem']
  readonly onClose: () => void
  readonly onConfirm: () => void
}

function VerbDialog({ verb, count, isBusy, problem, onClose, onConfirm }: VerbProps) {
  const [typed, setTyped] = useState('')
  const label = verb === 'delete' ? 'Delete' : (verbs.find(([one]) => one === verb)?.[1] ?? verb)
  const isTyped = verb !== 'delete' || count <= TYPED_FROM || typed.trim() === String(count)
  return (
    <Confirm
      title={`${label}: ${plural(count, 'job')}`}
      label={`${label} ${plural(count, 'job')}`}
      isDangerous={verb === 'delete' || verb === 'cancel'}
      isBusy={isBusy}
      isReady={isTyped}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>{effects[verb]}</p>
      {verb === 'delete' && count > TYPED_FROM && (
        <TextField label={`Type ${count} to go on`} value={typed} onChange={setTyped} />
      )}
      {problem !== null && <ProblemBox problem={problem} />}
    </Confirm>
  )
}

const LOOK_MS = 700

/** How far the operation is; it goes on when the dialog is closed. */
function Progress({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, reload } = useRead(reads.operation(id), never)
  const isRunning = data === undefined || data.status === 'running'
  useEffect(() => {
    if (!isRunning) {
      refreshAll()
      return
    }
    return every(LOOK_MS, reload)
  }, [isRunning])
  const stop = () => api.delete(url(`/bulk/${encodeURIComponent(id)}`))
  return (
    <Dialog title={isRunning ? 'Working…' : 'Done'} onClose={onClose}>
      {data !== undefined && (
        <div class="stack" aria-live="polite">
          <progress max={data.total} value={data.done + data.failed} aria-label="Progress" />
          <p>
            {countText(data.done)} of {countText(data.total)} done
            {data.failed > 0 && `, ${countText(data.failed)} refused`}
            {data.status === 'stopped' && ', then stopped'}
          </p>
          {data.failures.length > 0 && (
            <ul class="failures small">
              {data.failures.slice(0, 10).map(({ id: job, detail }) => (
                <li key={job}>{detail}</li>
              ))}
            </ul>
          )}
        </div>
      )}
      <div class="row end">
        {isRunning && (
          <button type="button" class="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          {isRunning ? 'Go on in the background' : 'Close'}
        </button>
      </div>
    </Dialog>
  )
}
