// The rest of what can be done to a job: why, edit, copies of it as commands, cancel, delete.

import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Job } from '../data/reads.ts'
import { isAdmin, isOperator } from '../data/session.ts'
import { Confirm } from '../components/dialog.tsx'
import { TextField } from '../forms/field.tsx'
import { Icon } from '../components/icon.tsx'
import { Menu, type MenuItem } from '../components/menu.tsx'
import { toast } from '../components/toasts.tsx'
import { paths, pathTo } from '../paths.ts'
import { base, href } from '../href.ts'
import { allowed, jobActions } from './job-actions.ts'

interface JobMenuProps {
  readonly job: Job
  readonly onWhy: () => void
  readonly look?: string
}

/** What a person would send to make the same job again. */
export function bodyOf(job: Job): Readonly<Record<string, unknown>> {
  const { name, tenant, trigger, action, handler, payload, queue, priority, tags, retry } = job
  const { timeout_seconds, overlap, missed, grace_seconds, jitter_seconds, run_limit } = job
  return {
    name,
    tenant,
    trigger,
    ...(action === null ? { handler } : { action }),
    payload,
    queue,
    priority,
    tags,
    retry,
    timeout_seconds,
    overlap,
    missed,
    grace_seconds,
    jitter_seconds,
    run_limit,
  }
}

export function curlOf(job: Job): string {
  const body = JSON.stringify(bodyOf(job)).replaceAll("'", String.raw`'\''`)
  return (
    `curl -X POST ${location.origin}${base}/api/v1/jobs \\\n` +
    `  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n` +
    `  -d '${body}'`
  )
}

function copy(text: string, what: string): void {
  void navigator.clipboard?.writeText(text).then(() => toast(`Copied as ${what}`))
}

export function JobMenu({ job, onWhy, look = 'bare' }: JobMenuProps) {
  const [asks, setAsks] = useState<'cancel' | 'delete' | null>(null)
  const { route } = useLocation()
  const can = allowed(job)
  const items: MenuItem[] = [{ label: 'Why?', onSelect: onWhy }]
  if (isAdmin.value) {
    const to = (path: string) => () => route(path)
    items.push(
      { label: 'Edit', onSelect: to(href(pathTo('editJob', { id: job.id }))) },
      { label: 'Duplicate', onSelect: to(href(paths.newJob, { from: job.id })) },
    )
  }
  items.push(
    { label: 'Copy as curl', onSelect: () => copy(curlOf(job), 'curl') },
    {
      label: 'Copy as JSON',
      onSelect: () => copy(JSON.stringify(bodyOf(job), null, 2), 'JSON'),
    },
  )
  if (isOperator.value && can.retry) {
    items.push({ label: 'Start over', onSelect: () => void jobActions.retry(job) })
  }
  if (isOperator.value && can.cancel) {
    items.push({ label: 'Cancel…', onSelect: () => setAsks('cancel'), isDangerous: true })
  }
  if (isAdmin.value) {
    items.push({ label: 'Delete…', onSelect: () => setAsks('delete'), isDangerous: true })
  }
  return (
    <>
      <Menu name={`More for ${job.name}`} look={look} label={<Icon name="more" />} items={items} />
      {asks === 'cancel' && <CancelDialog job={job} onClose={() => setAsks(null)} />}
      {asks === 'delete' && <DeleteDialog job={job} onClose={() => setAsks(null)} />}
    </>
  )
}

interface AskProps {
  readonly job: Job
  readonly onClose: () => void
}

function CancelDialog({ job, onClose }: AskProps) {
  const [reason, setReason] = useState('')
  const confirm = () => {
    onClose()
    void jobActions.cancel(job, reason.trim())
  }
  return (
    <Confirm
      title={`Cancel ${job.name}`}
      label="Cancel the job"
      isDangerous
      onClose={onClose}
      onConfirm={confirm}
    >
      <p>It will not fire again. {job.status === 'running' && 'The run under way is aborted.'}</p>
      <TextField label="Reason" value={reason} onChange={setReason} />
    </Confirm>
  )
}

function DeleteDialog({ job, onClose }: AskProps) {
  const { path, route } = useLocation()
  const confirm = async () => {
    const isHere = path === href(pathTo('job', { id: job.id }))
    onClose()
    const done = await jobActions.remove(job)
    if (done !== null && isHere) route(href(paths.jobs))
  }
  return (
    <Confirm
      title={`Delete ${job.name}`}
      label="Delete the job"
      isDangerous
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p>The job and the history of its runs are gone for good.</p>
    </Confirm>
  )
}
