// Pause: for how long, and why. A long pause needs a note: someone will wonder.

import { useState } from 'preact/hooks'
import { now } from '../clock.ts'
import { ProblemBox } from '../components/conditions.tsx'
import { Confirm } from '../components/dialog.tsx'
import { ChoiceField, TextField } from '../forms/field.tsx'
import { momentText } from '../components/format.ts'
import { localZone } from '../view.ts'
import type { ApiProblem } from '../data/problem.ts'
import type { PauseGiven } from './job-actions.ts'

type Length = 'hour' | 'tomorrow' | 'until' | 'open'

const HOUR = 3_600_000
const LONG_MS = 24 * HOUR

const lengths: readonly (readonly [Length, string])[] = [
  ['hour', 'For an hour'],
  ['tomorrow', 'Until tomorrow 09:00'],
  ['until', 'Until a moment…'],
  ['open', 'Until someone resumes it'],
]

function tomorrowAtNine(): number {
  const day = new Date(now() + LONG_MS)
  day.setHours(9, 0, 0, 0)
  return day.getTime()
}

function endOf(length: Length, chosen: string): number | null {
  switch (length) {
    case 'hour':
      return now() + HOUR
    case 'tomorrow':
      return tomorrowAtNine()
    case 'until':
      return Number.isNaN(Date.parse(chosen)) ? null : Date.parse(chosen)
    case 'open':
      return null
  }
}

interface PauseProps {
  /** What is paused: `email.digest`, `12 jobs`. */
  readonly what: string
  readonly isBusy?: boolean
  readonly problem?: ApiProblem | null
  readonly onClose: () => void
  readonly onPause: (given: PauseGiven) => void
}

export function PauseDialog({
  what,
  isBusy = false,
  problem = null,
  onClose,
  onPause,
}: PauseProps) {
  const [length, setLength] = useState<Length>('hour')
  const [chosen, setChosen] = useState('')
  const [note, setNote] = useState('')
  const end = endOf(length, chosen)
  const isLong = length === 'open' || (end !== null && end - now() > LONG_MS)
  const isMissing = length === 'until' && end === null
  const confirm = () =>
    onPause({
      ...(end === null ? {} : { until: new Date(end).toISOString() }),
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    })
  return (
    <Confirm
      title={`Pause ${what}`}
      label={`Pause ${what}`}
      isBusy={isBusy}
      isReady={!isMissing && (!isLong || note.trim() !== '')}
      onClose={onClose}
      onConfirm={confirm}
    >
      <ChoiceField
        label="How long"
        value={length}
        onChange={setLength}
        options={lengths}
        hint={
          end === null
            ? 'Firings that pass are recorded as skipped, and not made up for.'
            : `Resumes by itself ${momentText(end, { zone: localZone })}.`
        }
      />
      {length === 'until' && (
        <TextField
          label={`Until (${localZone})`}
          type="datetime-local"
          value={chosen}
          onChange={setChosen}
          problem={problem}
          names={['until']}
        />
      )}
      <TextField
        label={isLong ? 'Why (needed for more than a day)' : 'Why'}
        value={note}
        onChange={setNote}
        placeholder="Database upgrade"
        problem={problem}
        names={['note']}
      />
      {problem !== null && problem.errors.length === 0 && <ProblemBox problem={problem} />}
    </Confirm>
  )
}
