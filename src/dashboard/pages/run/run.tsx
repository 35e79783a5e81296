// One run: how it stands, where its time went, every attempt, what it was given, gave and logged.

import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { act } from '../../data/act.ts'
import { api, url } from '../../data/api.ts'
import { anyChange, useRead, type Concerns } from '../../data/read.ts'
import { reads, type RunDetail } from '../../data/reads.ts'
import { isOperator } from '../../data/session.ts'
import { second } from '../../clock.ts'
import { Shown } from '../../components/conditions.tsx'
import { spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Card, Page } from '../../components/page.tsx'
import { CopyButton, Json } from '../../components/json.tsx'
import { JobLink } from '../../components/links.tsx'
import { Time } from '../../components/time.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { originText } from '../../runs/words.ts'
import { useKeys } from '../../shell/keys.ts'
import { Attempts } from './attempts.tsx'
import { CancelDialog, ReplayDialog } from './dialogs.tsx'
import { Log } from './log.tsx'
import { PayloadCard } from './payload.tsx'
import { TimeBar } from './time-bar.tsx'

export function RunPage() {
  const { params } = useRoute()
  const id = params.id ?? ''
  const read = useRead(reads.run(id), ofRun(id))
  const run = read.isOld ? undefined : read.data
  return (
    <Page
      title={run === undefined ? 'Run' : `${run.job_name} #${run.run}`}
      heading={run && <Heading run={run} />}
      about={run && <About run={run} />}
      actions={run && <Actions run={run} />}
    >
      <p class="away-from-sight" role="status">
        {run && `The run is ${run.status}`}
      </p>
      <Shown read={read} lines={8}>
        {detail => <Body key={detail.id} run={detail} />}
      </Shown>
    </Page>
  )
}

/** Its own events, and changes of its job; progress as well. */
function ofRun(id: string): Concerns {
  const jobId = id.slice(0, id.lastIndexOf('.'))
  return event => anyChange(event) && (event.data.run_id === id || event.data.job_id === jobId)
}

function Heading({ run }: { readonly run: RunDetail }) {
  return (
    <span class="row">
      <JobLink id={run.job_id} name={run.job_name} />
      <span class="dim">#{run.run}</span>
      <StateBadge state={run.status} />
    </span>
  )
}

function About({ run }: { readonly run: RunDetail }) {
  const of = run.attempts_max === null ? '' : ` of ${run.attempts_max}`
  return (
    <span class="row run-facts">
      <span>
        Attempt {run.attempts}
        {of}
      </span>
      <span>{originText(run.origin)}</span>
      {run.retry_of !== null && (
        <a href={href(pathTo('run', { id: run.retry_of }))}>Retry of {run.retry_of}</a>
      )}
      <span>
        for <Time at={run.scheduled_for} hasSeconds />
      </span>
      <span>{run.tenant}</span>
      <code>{run.id}</code>
    </span>
  )
}

function Actions({ run }: { readonly run: RunDetail }) {
  const [open, setOpen] = useState<'cancel' | 'replay' | null>(null)
  const { route } = useLocation()
  const isOpen = ['running', 'queued', 'retrying'].includes(run.status)
  const retry = async () => {
    const address = url<{ run_id: string }>(`/runs/${encodeURIComponent(run.id)}/retry`)
    const made = await act(() => api.post(address, {}), { done: 'A new run is asked for' })
    if (made !== null) route(href(pathTo('run', { id: made.run_id })))
  }
  const mayRetry = isOperator.value && !isOpen
  const mayCancel = isOperator.value && isOpen
  useKeys({
    ...(mayRetry ? { r: { label: 'Retry this run', act: () => void retry() } } : {}),
    ...(mayCancel ? { c: { label: 'Cancel this run', act: () => setOpen('cancel') } } : {}),
  })
  return (
    <>
      <Neighbours run={run} />
      <CopyButton text={location.href.replace(location.hash, '')} label="Copy link" />
      {isOperator.value && (
        <button type="button" class="button" onClick={() => setOpen('replay')}>
          <Icon name="edit" /> Replay…
        </button>
      )}
      {mayCancel && (
        <button type="button" class="button danger" onClick={() => setOpen('cancel')}>
          <Icon name="stop" /> Cancel…
        </button>
      )}
      {mayRetry && (
        <button type="button" class="button primary" onClick={() => void retry()}>
          <Icon name="retry" /> Retry
        </button>
      )}
      {open === 'cancel' && <CancelDialog run={run} onClose={() => setOpen(null)} />}
      {open === 'replay' && <ReplayDialog run={run} onClose={() => setOpen(null)} />}
    </>
  )
}

/** The runs before and after it in the row it lives in. */
function Neighbours({ run }: { readonly run: RunDetail }) {
  const { route } = useLocation()
  const beside = (by: number) => {
    if (run.run + by < 1) return
    const owner = run.id.slice(0, run.id.lastIndexOf('.'))
    route(href(pathTo('run', { id: `${owner}.${run.run + by}` })))
  }
  useKeys({
    '[': { label: 'The run before', act: () => beside(-1) },
    ']': { label: 'The run after', act: () => beside(1) },
  })
  return (
    <>
      <button
        type="button"
        class="button"
        aria-label="The run before"
        disabled={run.run <= 1}
        onClick={() => beside(-1)}
      >
        <Icon name="back" />
      </button>
      <button type="button" class="button" aria-label="The run after" onClick={() => beside(1)}>
        <Icon name="next" />
      </button>
    </>
  )
}

function Body({ run }: { readonly run: RunDetail }) {
  return (
    <div class="cards run-cards">
      {run.error_message !== null && <Failure run={run} />}
      {run.progress !== null && <ProgressCard progress={run.progress} />}
      <Card title="Where the time went" wide>
        <TimeBar run={run} />
      </Card>
      <Attempts run={run} />
      {run.attempts > 0 && <Log run={run} />}
      <PayloadCard run={run} />
      <Card title="Result">
        {run.result === null || run.result === undefined ? (
          <p class="dim">{run.finished_at === null ? 'It is not over yet.' : 'It gave none.'}</p>
        ) : (
          <Json value={run.result} name="Result" />
        )}
      </Card>
    </div>
  )
}

function Failure({ run }: { readonly run: RunDetail }) {
  const last = run.executions.at(-1)
  return (
    <Card title={run.outcome === 'timedOut' ? 'Timed out' : 'Error'} wide>
      <div class="stack">
        <p class="error-text">{run.error_message}</p>
        {run.retry_at !== null && (
          <p class="dim">
            Tried again <Time at={run.retry_at} />
          </p>
        )}
        {last?.stack_trace != null && (
          <details>
            <summary>Stack</summary>
            <pre class="stack-trace" tabIndex={0} role="region" aria-label="Stack">
              {last.stack_trace}
            </pre>
          </details>
        )}
      </div>
    </Card>
  )
}

function ProgressCard({ progress }: { readonly progress: NonNullable<RunDetail['progress']> }) {
  const { fraction, note, at } = progress
  const ago = spanText(Math.max(0, second.value - Date.parse(at)), { isCoarse: true })
  return (
    <Card title="Progress" aside={`reported ${ago} ago`} wide>
      <div class="row">
        <progress max={1} value={fraction ?? undefined} aria-label="Progress" />
        {fraction !== null && <span class="numbers">{Math.round(fraction * 100)} %</span>}
        {note !== null && <span>{note}</span>}
      </div>
    </Card>
  )
}
