// When a job fires: an interval, cron with its zone, one moment, or on demand.

import type { ApiProblem } from '../../data/problem.ts'
import { CronPreviewBox } from '../../components/cron-preview.tsx'
import { ChoiceField, TextField } from '../../forms/field.tsx'
import { Segments } from '../../components/segments.tsx'
import { localZone } from '../../view.ts'
import type { JobForm, When } from './form.ts'

export interface SectionProps {
  readonly form: JobForm
  readonly change: (changes: Partial<JobForm>) => void
  readonly problem: ApiProblem | null
}

const whens: readonly (readonly [When, string])[] = [
  ['every', 'Every'],
  ['cron', 'Cron'],
  ['once', 'Once'],
  ['manual', 'On demand'],
]

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function WhenFields({ form, change, problem }: SectionProps) {
  return (
    <fieldset>
      <legend>When</legend>
      <div>
        <Segments
          label="Kind of schedule"
          value={form.when}
          options={whens}
          onChange={when => change({ when })}
        />
      </div>
      {form.when === 'every' && <EveryFields form={form} change={change} problem={problem} />}
      {form.when === 'cron' && <CronFields form={form} change={change} problem={problem} />}
      {form.when === 'once' && (
        <TextField
          label={`At (${localZone})`}
          type="datetime-local"
          value={form.at}
          onChange={at => change({ at })}
          problem={problem}
          names={['trigger', 'trigger.at']}
        />
      )}
      {form.when === 'manual' && <p class="hint">It runs when someone asks for it.</p>}
    </fieldset>
  )
}

function EveryFields({ form, change, problem }: SectionProps) {
  return (
    <div class="pair">
      <TextField
        label="Every"
        value={form.every}
        onChange={every => change({ every })}
        placeholder="30m"
        problem={problem}
        names={['trigger', 'trigger.every']}
        hint="30s, 15m, 6h, 1d. A day is 24 hours; for the same time each day use cron."
      />
      <ChoiceField
        label="Counted"
        value={form.from}
        onChange={from => change({ from })}
        options={[
          ['schedule', 'on a fixed grid'],
          ['start', 'from start to start'],
          ['finish', 'from the end of the run'],
        ]}
        problem={problem}
        names={['trigger.from']}
      />
    </div>
  )
}

function CronFields({ form, change, problem }: SectionProps) {
  return (
    <>
      <div class="pair">
        <TextField
          label="Cron expression"
          value={form.cron}
          onChange={cron => change({ cron })}
          isMono
          problem={problem}
          names={['trigger', 'trigger.cron']}
        />
        <TextField
          label="Time zone"
          value={form.timezone}
          onChange={timezone => change({ timezone })}
          suggestions={zones}
          problem={problem}
          names={['trigger.timezone']}
        />
      </div>
      <CronPreviewBox asked={form} />
      <ChoiceField
        label="Dialect"
        value={form.dialect}
        onChange={dialect => change({ dialect })}
        options={[
          ['extended', 'extended: seconds, L, W, #'],
          ['posix', 'POSIX, as crontab has it'],
        ]}
        problem={problem}
        names={['trigger.dialect']}
      />
    </>
  )
}
