// Creating a job, from nothing or from another one, and editing one.

import { useLocation, useRoute } from 'preact-iso'
import { jobShape } from 'virtual:form-shapes'
import { Shown } from '../../components/conditions.tsx'
import { toast } from '../../components/toasts.tsx'
import { useView } from '../../components/view-state.ts'
import { api, url } from '../../data/api.ts'
import { never, useRead } from '../../data/read.ts'
import { reads, type Job } from '../../data/reads.ts'
import { EditDocument, NewDocument } from '../../forms/document-pages.tsx'
import { documentIn } from '../../forms/form-kind.ts'
import type { Fields } from '../../forms/form-values.ts'
import { href } from '../../href.ts'
import { paths, pathTo } from '../../paths.ts'
import { jobKind } from './job-kind.ts'

const kind = jobKind(jobShape)

export function NewJob() {
  const from = useView().get('from')
  const read = useRead(from === null ? null : reads.job(from), never)
  if (from === null) return <NewForm start={{}} />
  return (
    <Shown read={read}>
      {model => <NewForm start={{ ...documentIn(kind, model), name: `${model.name} copy` }} />}
    </Shown>
  )
}

function NewForm({ start }: { readonly start: Fields }) {
  const { route } = useLocation()
  const create = async (body: Fields) => {
    const made = await api.post(url<Job>('/jobs'), body)
    toast(`${made.name} is created`)
    route(href(pathTo('job', { id: made.id })))
  }
  return (
    <NewDocument
      kind={kind}
      start={start}
      title="New job"
      label="Create the job"
      back={href(paths.jobs)}
      create={create}
    />
  )
}

export function EditJob() {
  const { params } = useRoute()
  const address = reads.job(params.id ?? '')
  const read = useRead(address, never)
  return (
    <Shown read={read}>
      {job => (
        <EditDocument
          key={job.id}
          kind={kind}
          read={job}
          etag={read.etag ?? `"${job.revision}"`}
          name={job.name}
          address={address}
          back={href(pathTo('job', { id: job.id }))}
          isReplaced={false}
        />
      )}
    </Shown>
  )
}
