// What needs a look, the worst first, each with the one button that helps.

import { useState } from 'preact/hooks'
import { second } from '../../clock.ts'
import { useRead } from '../../data/read.ts'
import { reads, type Finding } from '../../data/reads.ts'
import { isOperator } from '../../data/session.ts'
import { jobActions } from '../../jobs/job-actions.ts'
import { WhyDialog } from '../../jobs/why.tsx'
import { Shown } from '../../components/conditions.tsx'
import { plural, relativeText } from '../../components/format.ts'
import { Glyph } from '../../components/glyph.tsx'
import { Card } from '../../components/page.tsx'
import { JobLink } from '../../components/links.tsx'
import type { StateLook } from '../../components/states.ts'
import { Time } from '../../components/time.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'

const looks: Readonly<Record<Finding['severity'], StateLook>> = {
  error: { family: 'failed', glyph: 'dead', label: 'Error' },
  warning: { family: 'retry', glyph: 'clock', label: 'Warning' },
  info: { family: 'wait', glyph: 'clock', label: 'Info' },
}

export function AttentionCard() {
  const read = useRead(reads.attention())
  const [why, setWhy] = useState<{ id: string; name: string } | null>(null)
  const found = read.data?.findings ?? []
  return (
    <Card
      title={
        <>Needs attention {found.length > 0 && <span class="count-mark">{found.length}</span>}</>
      }
      wide
      isFlush
    >
      <Shown read={read} lines={2}>
        {({ findings }) =>
          findings.length === 0 ? (
            <AllWell />
          ) : (
            <ul class="findings">
              {findings.map(finding => (
                <Line
                  key={`${finding.code} ${finding.job_id}`}
                  finding={finding}
                  onWhy={() => setWhy({ id: finding.job_id!, name: finding.job_name! })}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      {why !== null && <WhyDialog job={why} onClose={() => setWhy(null)} />}
    </Card>
  )
}

function AllWell() {
  const { data } = useRead(reads.metrics())
  const now = second.value
  const active = data ? data.jobs.scheduled + data.jobs.pending + data.jobs.running : null
  const at = data?.last_check_at ?? null
  return (
    <p class="all-well">
      <Glyph look={{ family: 'ok', glyph: 'check', label: 'Fine' }} />
      <span>
        <strong>Nothing needs you.</strong>{' '}
        <span class="dim">
          {active !== null && `${plural(active, 'job')} active`}
          {at !== null && `, last tick ${relativeText(Math.min(Date.parse(at), now), now)}`}
        </span>
      </span>
    </p>
  )
}

function Line({ finding, onWhy }: { readonly finding: Finding; readonly onWhy: () => void }) {
  const { severity, job_id: id, job_name: name, tenant, text, at } = finding
  const look = looks[severity]
  return (
    <li>
      <Glyph look={look} />
      <span class="away-from-sight">{look.label}: </span>
      <div class="finding-text">
        {id !== null && name !== null && (
          <span class="finding-name">
            <JobLink id={id} name={name} /> <span class="dim small">{tenant}</span>
          </span>
        )}
        <span class="finding-why">{text}</span>
      </div>
      {at !== null && (
        <span class="dim small finding-at">
          <Time at={at} show="relative" />
        </span>
      )}
      {id !== null && <Remedy finding={finding} onWhy={onWhy} />}
    </li>
  )
}

function Remedy({ finding, onWhy }: { readonly finding: Finding; readonly onWhy: () => void }) {
  const job = { id: finding.job_id!, name: finding.job_name! }
  if (finding.code === 'failed' && isOperator.value) {
    return <Act label="Start over" onClick={() => void jobActions.retry(job)} name={job.name} />
  }
  if (finding.code === 'paused-long' && isOperator.value) {
    return <Act label="Resume" onClick={() => void jobActions.resume(job)} name={job.name} />
  }
  if (finding.code === 'late' || finding.code === 'unbound') {
    return <Act label="Why?" onClick={onWhy} name={job.name} />
  }
  return (
    <a class="button small" href={href(pathTo('job', { id: job.id }))}>
      Open<span class="away-from-sight"> {job.name}</span>
    </a>
  )
}

interface ActProps {
  readonly label: string
  readonly name: string
  readonly onClick: () => void
}

function Act({ label, name, onClick }: ActProps) {
  return (
    <button type="button" class="button small" onClick={onClick}>
      {label}
      <span class="away-from-sight"> {name}</span>
    </button>
  )
}
