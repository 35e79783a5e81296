// Making a job: from nothing, or from another one.

import { useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { useDeed } from '../../data/act.ts'
import { api, url } from '../../data/api.ts'
import { never, useRead } from '../../data/read.ts'
import { reads, type Job } from '../../data/reads.ts'
import { Page } from '../../components/page.tsx'
import { toast } from '../../components/toasts.tsx'
import { useView } from '../../components/view-state.ts'
import { paths, pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { localZone } from '../../view.ts'
import { bodyOf, emptyForm, formOf, type JobForm } from './form.ts'
import { JobFormView } from './job-form.tsx'

export function NewJob() {
  const view = useView()
  const { route } = useLocation()
  const from = view.get('from')
  const { data: model } = useRead(from === null ? null : reads.job(from), never)
  const [form, setForm] = useState<JobForm>({ ...emptyForm, timezone: localZone })
  useEffect(() => {
    if (model) setForm({ ...formOf(model), name: `${model.name} copy` })
  }, [model?.id])
  const { isBusy, problem, run } = useDeed(async () => {
    const tenant = form.tenant.trim()
    const body = { ...bodyOf(form), ...(tenant === '' ? {} : { tenant }) }
    const made = await api.post(url<Job>('/jobs'), body)
    toast(`${made.name} is made`)
    route(href(pathTo('job', { id: made.id })))
  })
  return (
    <div class="form-page">
      <Page title="New job">
        <JobFormView
          form={form}
          change={changes => setForm({ ...form, ...changes })}
          problem={problem}
          isBusy={isBusy}
          isNew
          label="Make the job"
          onSubmit={() => void run()}
          back={href(paths.jobs)}
        />
      </Page>
    </div>
  )
}
