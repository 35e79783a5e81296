// Changing a job: only what was changed is sent, with the revision it was read at. When someone else
// was faster, both changes are shown before anything is written.

import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { useDeed } from '../../data/act.ts'
import { api, call } from '../../data/api.ts'
import { never, useRead } from '../../data/read.ts'
import { reads, type Job } from '../../data/reads.ts'
import { Shown } from '../../parts/conditions.tsx'
import { Page } from '../../parts/page.tsx'
import { toast } from '../../parts/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../place.ts'
import { changesOf, formOf, type JobForm } from './form.ts'
import { JobFormView } from './job-form.tsx'

export function EditJob() {
  const { params } = useRoute()
  const read = useRead(reads.job(params.id ?? ''), never)
  return (
    <Shown read={read}>
      {job => <Editor key={job.id} job={job} etag={read.etag ?? `"${job.revision}"`} />}
    </Shown>
  )
}

interface Conflict {
  readonly newest: Job
  readonly etag: string
  /** What someone else changed meanwhile, by field. */
  readonly theirs: Readonly<Record<string, unknown>>
}

function Editor({ job, etag }: { readonly job: Job; readonly etag: string }) {
  const { route } = useLocation()
  const [start] = useState(() => ({ form: formOf(job), etag }))
  const [form, setForm] = useState<JobForm>(start.form)
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const address = reads.job(job.id)
  const mine = changesOf(start.form, form)
  const { isBusy, problem, run } = useDeed(async (ifMatch: string) => {
    try {
      await api.patch(address, mine, { ifMatch })
    } catch (error) {
      if ((error as { status?: number }).status === 412) {
        const newest = await call(address)
        const theirs = changesOf(start.form, formOf(newest.body))
        setConflict({ newest: newest.body, etag: newest.etag ?? '*', theirs })
      }
      throw error
    }
    toast(`${job.name} is changed`)
    route(href(pathTo('job', { id: job.id })))
  })
  return (
    <div class="form-page">
      <Page title={`Edit ${job.name}`} about={`Revision ${job.revision}`}>
        <JobFormView
          form={form}
          change={changes => setForm({ ...form, ...changes })}
          problem={problem?.status === 412 ? null : problem}
          isBusy={isBusy}
          isNew={false}
          label="Save the changes"
          onSubmit={() => void run(start.etag)}
          back={href(pathTo('job', { id: job.id }))}
        >
          {conflict !== null && (
            <ConflictBox
              conflict={conflict}
              mine={mine}
              onMine={() => void run(conflict.etag)}
              onTheirs={() => route(href(pathTo('job', { id: job.id })))}
            />
          )}
        </JobFormView>
      </Page>
    </div>
  )
}

const shown = (value: unknown) => (value === undefined ? '–' : JSON.stringify(value))

interface ConflictProps {
  readonly conflict: Conflict
  readonly mine: Readonly<Record<string, unknown>>
  readonly onMine: () => void
  readonly onTheirs: () => void
}

function ConflictBox({ conflict, mine, onMine, onTheirs }: ConflictProps) {
  const { theirs, newest } = conflict
  const fields = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])]
  return (
    <div class="problem" role="alert">
      <div class="stack">
        <strong>Someone changed it meanwhile (now revision {newest.revision})</strong>
        <table class="plain">
          <caption class="away-from-sight">Both changes</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Theirs</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(field => (
              <tr key={field}>
                <td data-label="Field">{field}</td>
                <td data-label="Theirs">
                  <code>{shown(theirs[field])}</code>
                </td>
                <td data-label="Yours">
                  <code>{shown(mine[field])}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="row">
          <button type="button" class="button primary" onClick={onMine}>
            Save yours on top
          </button>
          <button type="button" class="button" onClick={onTheirs}>
            Leave it as it is
          </button>
        </div>
      </div>
    </div>
  )
}
