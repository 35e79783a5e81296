// Run now: once more beside the schedule, with the job's payload or another one.

import { useState } from 'preact/hooks'
import { useAction } from '../data/act.ts'
import { api, url } from '../data/api.ts'
import type { Job } from '../data/reads.ts'
import { ProblemBox } from '../components/conditions.tsx'
import { Confirm } from '../components/dialog.tsx'
import { TextField } from '../forms/field.tsx'
import { toast } from '../components/toasts.tsx'

interface RunProps {
  readonly job: Job
  readonly onClose: () => void
}

/** The value, or why the text is no JSON. */
export function parseJson(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: text.trim() === '' ? null : (JSON.parse(text) as unknown) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'not JSON' }
  }
}

export function RunDialog({ job, onClose }: RunProps) {
  const before = JSON.stringify(job.payload, null, 2)
  const [text, setText] = useState(before)
  const parsed = parseJson(text)
  const { isBusy, problem, run } = useAction(() => {
    const isOther = text.trim() !== before && 'value' in parsed
    const address = url<unknown>(`/jobs/${encodeURIComponent(job.id)}/run`)
    return api.post(address, isOther ? { payload: parsed.value } : {})
  })
  const confirm = async () => {
    if (!(await run())) return
    toast(`${job.name} runs once, beside its schedule`)
    onClose()
  }
  return (
    <Confirm
      title={`Run ${job.name}`}
      label="Run once now"
      isBusy={isBusy}
      isReady={'value' in parsed}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p class="dim">
        Does not change the schedule.
        {job.status === 'running' && ' A run is under way: this one waits behind it.'}
      </p>
      <TextField
        label="Payload (JSON)"
        value={text}
        onChange={setText}
        rows={8}
        isMono
        problem={problem}
        names={['payload']}
        hint={'fault' in parsed ? `Not JSON yet: ${parsed.fault}` : 'Of this run only.'}
      />
      {problem !== null && problem.errors.length === 0 && <ProblemBox problem={problem} />}
    </Confirm>
  )
}
