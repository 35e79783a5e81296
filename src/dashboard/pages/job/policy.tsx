// What happens when: the policies in sentences; and what the job does.

import type { Job } from '../../data/reads.ts'
import { Card } from '../../components/page.tsx'
import { Json } from '../../components/json.tsx'
import { Time } from '../../components/time.tsx'
import { policySentences } from './sentences.ts'

export function PolicyCard({ job }: { readonly job: Job }) {
  return (
    <Card title="Policies">
      <ul class="sentences">
        {policySentences(job).map(text => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Card>
  )
}

const priorities = ['', 'very low', 'low', 'normal', 'high', 'very high', 'critical']

export function AboutCard({ job }: { readonly job: Job }) {
  const facts = [
    ['Id', <code key="id">{job.id}</code>],
    [job.action === null ? 'Handler' : 'Action', <code key="does">{doesOf(job)}</code>],
    ['Queue', job.queue],
    ['Priority', `${job.priority} (${priorities[job.priority] ?? ''})`],
    ...(job.user_id === null ? [] : [['User', job.user_id] as const]),
    ['Created', <Time key="made" at={job.created_at} />],
    ['Changed', <Time key="changed" at={job.updated_at} />],
    ['Revision', String(job.revision)],
  ] as const
  return (
    <Card title="What it does">
      <div class="stack">
        <dl class="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {job.action !== null && (
          <>
            <h3>Action</h3>
            <Json value={job.action} name="Action" />
          </>
        )}
        <h3>Payload</h3>
        <Json value={job.payload} name="Payload" />
        {Object.keys(job.metadata).length > 0 && (
          <>
            <h3>Metadata</h3>
            <Json value={job.metadata} name="Metadata" />
          </>
        )}
      </div>
    </Card>
  )
}

function doesOf({ action, handler }: Job): string {
  return action === null ? handler : String(action.kind)
}
