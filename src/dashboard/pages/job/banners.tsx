// What is out of the ordinary about a job, above everything else.

import type { Job } from '../../data/reads.ts'
import { zoneOf } from '../../components/schedule.tsx'
import { Glyph } from '../../components/glyph.tsx'
import { lookOf } from '../../components/states.ts'
import { Time } from '../../components/time.tsx'

export function Banners({ job }: { readonly job: Job }) {
  const zone = zoneOf(job.trigger)
  return (
    <>
      {job.is_paused && (
        <p class="banner s-skip">
          <Glyph look={lookOf('paused')} />
          <span>
            Paused since <Time at={job.paused_at} zone={zone} />
            {job.paused_until !== null && (
              <>
                {' '}
                until <Time at={job.paused_until} zone={zone} />
              </>
            )}
            {job.pause_note !== null && <>: “{job.pause_note}”</>}
          </span>
        </p>
      )}
      {job.status === 'failed' && (
        <p class="banner s-failed">
          <Glyph look={lookOf('dead')} />
          <span>
            Failed ({job.ended_reason ?? 'no reason was kept'})
            {job.error_message !== null && <>: {job.error_message}</>}
          </span>
        </p>
      )}
      {job.reason !== null && (
        <p class="banner s-failed">
          <Glyph look={lookOf('retrying')} />
          <span>
            Set aside ({job.reason}): its process died repeatedly while running it. Tried again at{' '}
            <Time at={job.next_run_at} zone={zone} />; Retry tries it at once.
          </span>
        </p>
      )}
      {job.status === 'cancelled' && (
        <p class="banner s-cancel">
          <Glyph look={lookOf('cancelled')} />
          <span>
            Cancelled <Time at={job.cancelled_at} zone={zone} />
            {job.ended_note !== null && <>: “{job.ended_note}”</>}
          </span>
        </p>
      )}
      {job.current_retry_count > 0 && job.status !== 'failed' && job.error_message !== null && (
        <p class="banner s-retry">
          <Glyph look={lookOf('retrying')} />
          <span>
            Retry {job.current_retry_count}
            {job.max_retries !== null && ` of ${job.max_retries}`}: {job.error_message}
          </span>
        </p>
      )}
    </>
  )
}
