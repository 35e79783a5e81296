// One job: what it is, what it will do, what it did, and everything that can be done to it.

import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { second } from '../../clock.ts'
import { ofJob, useRead } from '../../data/read.ts'
import { reads, type Job as JobData } from '../../data/reads.ts'
import { isAdmin, isOperator } from '../../data/session.ts'
import { allowed, jobActions } from '../../jobs/job-actions.ts'
import { JobMenu } from '../../jobs/job-menu.tsx'
import { PauseDialog } from '../../jobs/pause-dialog.tsx'
import { RunDialog } from '../../jobs/run-dialog.tsx'
import { WhyDialog } from '../../jobs/why.tsx'
import { Shown } from '../../components/conditions.tsx'
import { StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page, useTitle } from '../../components/page.tsx'
import { scheduleText, zoneOf } from '../../components/schedule.tsx'
import { jobLook } from '../../components/states.ts'
import { Time } from '../../components/time.tsx'
import { paths, pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { useKeys } from '../../shell/keys.ts'
import { Banners } from './banners.tsx'
import { NextCard } from './next.tsx'
import { DurationsCard, HeartbeatCard, JobLatenessCard } from './past.tsx'
import { AboutCard, PolicyCard } from './policy.tsx'
import { RunsCard } from './runs.tsx'

export function Job() {
  const { params } = useRoute()
  const id = params.id ?? ''
  const read = useRead(reads.job(id), ofJob(id))
  useTitle(read.data?.name ?? 'Job')
  return <Shown read={read}>{job => <JobPage job={job} />}</Shown>
}

type Open = 'run' | 'pause' | 'why'

function JobPage({ job }: { readonly job: JobData }) {
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const can = allowed(job)
  const mayDo = isOperator.value
  useKeys({
    w: { label: 'Why?', act: () => setOpen('why') },
    ...(mayDo && can.run && { r: { label: 'Run now', act: () => setOpen('run') } }),
    ...(mayDo && can.pause && { p: { label: 'Pause', act: () => setOpen('pause') } }),
    ...(mayDo && can.resume && { p: { label: 'Resume', act: () => void jobActions.resume(job) } }),
  })
  return (
    <div class="job-page">
      <Page
        title={job.name}
        heading={<Heading job={job} />}
        about={<About job={job} />}
        actions={<Actions job={job} open={setOpen} />}
      >
        <Banners job={job} />
        <HeartbeatCard job={job} />
        <div class="columns">
          <div class="stack">
            <NextCard job={job} />
            <RunsCard job={job} />
          </div>
          <div class="stack">
            <DurationsCard job={job} />
            <JobLatenessCard job={job} />
            <PolicyCard job={job} />
            <AboutCard job={job} />
          </div>
        </div>
      </Page>
      {open === 'why' && <WhyDialog job={job} onClose={close} />}
      {open === 'run' && <RunDialog job={job} onClose={close} />}
      {open === 'pause' && (
        <PauseDialog
          what={job.name}
          onClose={close}
          onPause={given => {
            close()
            void jobActions.pause(job, given)
          }}
        />
      )}
    </div>
  )
}

function Heading({ job }: { readonly job: JobData }) {
  return (
    <span class="row">
      <span>{job.name}</span>
      <StateBadge look={jobLook(job, second.value)} />
    </span>
  )
}

function About({ job }: { readonly job: JobData }) {
  const zone = zoneOf(job.trigger)
  const { cron } = job.trigger
  return (
    <div class="stack tight">
      <div class="row job-schedule">
        <span>{scheduleText(job.trigger)}</span>
        {typeof cron === 'string' && <code>{cron}</code>}
        {zone !== null && <span>{zone}</span>}
        {job.next_run_at !== null && !job.is_paused && (
          <span class="next-run">
            next <Time at={job.next_run_at} zone={zone} />
          </span>
        )}
      </div>
      <div class="row small">
        <a href={href(paths.jobs, { q: `tenant:${job.tenant}` })}>{job.tenant}</a>
        <span>{job.declared_by === null ? 'made over the API' : `code of ${job.declared_by}`}</span>
        {job.tags.map(tag => (
          <a key={tag} class="chip" href={href(paths.jobs, { q: `tag:"${tag}"` })}>
            {tag}
          </a>
        ))}
      </div>
    </div>
  )
}

interface ActionsProps {
  readonly job: JobData
  readonly open: (what: Open) => void
}

function Actions({ job, open }: ActionsProps) {
  const can = allowed(job)
  const mayDo = isOperator.value
  return (
    <>
      {mayDo && can.run && (
        <button type="button" class="button primary" onClick={() => open('run')}>
          <Icon name="play" /> Run now
        </button>
      )}
      {mayDo && can.retry && (
        <button type="button" class="button primary" onClick={() => void jobActions.retry(job)}>
          <Icon name="retry" /> Start over
        </button>
      )}
      {mayDo && can.pause && (
        <button type="button" class="button" onClick={() => open('pause')}>
          <Icon name="pause" /> Pause
        </button>
      )}
      {mayDo && can.resume && (
        <button type="button" class="button" onClick={() => void jobActions.resume(job)}>
          <Icon name="resume" /> Resume
        </button>
      )}
      {isAdmin.value && (
        <a class="button" href={href(pathTo('editJob', { id: job.id }))}>
          <Icon name="edit" /> Edit
        </a>
      )}
      <button type="button" class="button" onClick={() => open('why')}>
        <Icon name="why" /> Why?
      </button>
      <JobMenu job={job} look="button icon-only" onWhy={() => open('why')} />
    </>
  )
}
