// What people do to a run that needs a word first: cancelling it, and running it with another payload.

import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { useAction } from '../../data/act.ts'
import { api, url } from '../../data/api.ts'
import type { RunDetail } from '../../data/reads.ts'
import { parseJson } from '../../jobs/run-dialog.tsx'
import { ProblemBox } from '../../components/conditions.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { TextField } from '../../forms/field.tsx'
import { toast } from '../../components/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'

interface DialogProps {
  readonly run: RunDetail
  readonly onClose: () => void
}

const address = (run: RunDetail, verb: string) =>
  url<{ run_id: string }>(`/runs/${encodeURIComponent(run.id)}/${verb}`)

export function CancelDialog({ run, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const action = useAction(() => api.post(address(run, 'cancel'), reason === '' ? {} : { reason }))
  const confirm = async () => {
    if (!(await action.run())) return
    toast('The run is cancelled; the schedule goes on')
    onClose()
  }
  return (
    <Confirm
      title={`Cancel run #${run.run} of ${run.job_name}`}
      label="Cancel this run"
      isDangerous
      isBusy={action.isBusy}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p class="dim">Its handler is told to stop. The schedule goes on.</p>
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        problem={action.problem}
        names={['reason']}
        hint="Kept with the run and in the audit."
      />
      {action.problem !== null && action.problem.errors.length === 0 && (
        <ProblemBox problem={action.problem} />
      )}
    </Confirm>
  )
}

export function ReplayDialog({ run, onClose }: DialogProps) {
  const [text, setText] = useState(JSON.stringify(run.payload ?? null, null, 2))
  const { route } = useLocation()
  const parsed = parseJson(text)
  const action = useAction(async () => {
    const payload = 'value' in parsed ? parsed.value : null
    const { run_id } = await api.post(address(run, 'replay'), { payload })
    route(href(pathTo('run', { id: run_id })))
  })
  const confirm = async () => {
    if (!(await action.run())) return
    toast('A new run with this payload is asked for')
    onClose()
  }
  return (
    <Confirm
      title={`Replay ${run.job_name}`}
      label="Run with this payload"
      isBusy={action.isBusy}
      isReady={'value' in parsed}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p class="dim">A new run of the job. This one stays as it is.</p>
      <TextField
        label="Payload (JSON)"
        value={text}
        onChange={setText}
        rows={10}
        isMono
        problem={action.problem}
        names={['payload']}
        hint={'fault' in parsed ? `Not JSON yet: ${parsed.fault}` : 'Of this run only.'}
      />
      {action.problem !== null && action.problem.errors.length === 0 && (
        <ProblemBox problem={action.problem} />
      )}
    </Confirm>
  )
}
