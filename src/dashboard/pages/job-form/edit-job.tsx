// Changing a job: only what was changed is sent, with the revision it was read at. When someone else
// was faster, both changes are shown before anything is written.

import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api } from '../../data/api.ts'
import { never, useRead } from '../../data/read.ts'
import { reads, type Job } from '../../data/reads.ts'
import { Shown } from '../../components/conditions.tsx'
import { useEdit } from '../../forms/edit.tsx'
import { Page } from '../../components/page.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
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

function Editor({ job, etag }: { readonly job: Job; readonly etag: string }) {
  const [start] = useState(() => ({ form: formOf(job), etag }))
  const [form, setForm] = useState<JobForm>(start.form)
  const address = reads.job(job.id)
  const back = href(pathTo('job', { id: job.id }))
  const mine = changesOf(start.form, form)
  const { isBusy, problem, save, conflict } = useEdit({
    name: job.name,
    address,
    etag: start.etag,
    back,
    theirsOf: newest => changesOf(start.form, formOf(newest)),
    write: ifMatch => api.patch(address, mine, { ifMatch }),
    mine: () => mine,
  })
  return (
    <div class="form-page">
      <Page title={`Edit ${job.name}`} about={`Revision ${job.revision}`}>
        <JobFormView
          form={form}
          change={changes => setForm({ ...form, ...changes })}
          problem={problem}
          isBusy={isBusy}
          isNew={false}
          label="Save the changes"
          onSubmit={save}
          back={back}
        >
          {conflict}
        </JobFormView>
      </Page>
    </div>
  )
}
