// What a cron expression means, as the service says: a sentence, the next moments, advice, and where
// it stops making sense.

import { useEffect, useState } from 'preact/hooks'
import { after } from '../clock.ts'
import { api, url } from '../data/api.ts'
import { ApiProblem, problemFrom } from '../data/problem.ts'
import type { CronPreview } from '../data/reads.ts'
import { localZone } from '../view.ts'
import { momentText, relativeText, spanText } from './format.ts'
import { now } from '../clock.ts'

export interface CronQuery {
  readonly cron: string
  readonly timezone: string
  readonly dialect: 'extended' | 'posix'
}

const REST_MS = 250
const COUNT = 5

export interface PreviewState {
  readonly preview: CronPreview | null
  readonly problem: ApiProblem | null
}

/** Asks when the typing rests; the last good answer stays until the next one. */
export function useCronPreview(query: CronQuery, count = COUNT): PreviewState {
  const [state, setState] = useState<PreviewState>({ preview: null, problem: null })
  const { cron, timezone, dialect } = query
  useEffect(() => {
    if (cron.trim() === '') return
    let isOver = false
    const cancel = after(REST_MS, () => {
      const body = { cron, dialect, timezones: [timezone || 'UTC'], count }
      api.post(url<CronPreview>('/cron/preview'), body).then(
        preview => !isOver && setState({ preview, problem: null }),
        (error: unknown) => !isOver && setState({ preview: null, problem: problemFrom(error) }),
      )
    })
    return () => {
      isOver = true
      cancel()
    }
  }, [cron, timezone, dialect, count])
  return state
}

export function CronPreviewBox({ query }: { readonly query: CronQuery }) {
  const { preview, problem } = useCronPreview(query)
  if (query.cron.trim() === '') return null
  return (
    <div class="cron-preview" aria-live="polite">
      {problem !== null && <CronFault cron={query.cron} problem={problem} />}
      {preview !== null && <Meaning preview={preview} />}
    </div>
  )
}

/** The expression with a caret under the place the service points at. */
export function CronFault({ cron, problem }: { cron: string; problem: ApiProblem }) {
  const { column, hint } = problem.more
  const zone = problem.errors.find(({ field }) => field.startsWith('timezones'))
  return (
    <div class="rules">
      {typeof column === 'number' && (
        <pre aria-hidden="true">
          {cron}
          {'\n'}
          {' '.repeat(Math.max(0, column - 1))}^
        </pre>
      )}
      <p>
        {zone === undefined ? problem.message : `The zone ${zone.rule}`}
        {typeof hint === 'string' && hint !== '' && ` ${hint}`}
      </p>
    </div>
  )
}

function Meaning({ preview }: { readonly preview: CronPreview }) {
  const zone = preview.zones[0]!
  return (
    <div class="stack tight">
      <p>
        <strong>{zone.description}</strong> <span class="dim">{zone.timezone}</span>
      </p>
      <ol class="moments small">
        {zone.next.map(({ at, gap_ms, note }) => (
          <li key={at}>
            <span>{momentText(Date.parse(at), { zone: zone.timezone })}</span>
            {zone.timezone !== localZone && (
              <span class="dim">{momentText(Date.parse(at), { zone: localZone })}</span>
            )}
            <span class="dim">
              {gap_ms === null ? relativeText(Date.parse(at), now()) : `+${spanText(gap_ms)}`}
              {note !== null && ` · ${note}`}
            </span>
          </li>
        ))}
      </ol>
      {zone.next.length === 0 && <p class="rules">It never fires.</p>}
      {preview.lints.map(({ code, message }) => (
        <p key={code} class="lint small">
          {message}
        </p>
      ))}
    </div>
  )
}
