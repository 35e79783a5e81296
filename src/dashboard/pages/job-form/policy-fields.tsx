// What happens when it fails, is missed or overlaps; and where it runs.

import { ChoiceField, TextField } from '../../forms/field.tsx'
import { isSingle, type JobForm } from './form.ts'
import type { SectionProps } from './when-fields.tsx'

type TextKey = {
  [K in keyof JobForm]: string extends JobForm[K] ? K : never
}[keyof JobForm]

interface NumberProps extends SectionProps {
  readonly label: string
  readonly field: TextKey
  readonly names: readonly string[]
  readonly hint?: string
}

function NumberField({ form, change, problem, label, field, names, hint }: NumberProps) {
  return (
    <TextField
      label={label}
      type="number"
      value={form[field]}
      onChange={value => change({ [field]: value })}
      problem={problem}
      names={names}
      {...(hint === undefined ? {} : { hint })}
    />
  )
}

export function FailureFields(props: SectionProps) {
  const { form, change, problem } = props
  return (
    <fieldset>
      <legend>When it fails</legend>
      <div class="pair">
        <NumberField
          {...props}
          label="Retries"
          field="retries"
          names={['retry', 'retry.limit']}
          hint="Empty for no end."
        />
        {isSingle(form.when) ? null : (
          <ChoiceField
            label="Then"
            value={form.exhausted}
            onChange={exhausted => change({ exhausted })}
            options={[
              ['next', 'wait for the next firing'],
              ['stop', 'give the job up'],
              ['wait', 'wait for the count to be reset'],
            ]}
            problem={problem}
            names={['retry.exhausted']}
          />
        )}
        <ChoiceField
          label="Waits"
          value={form.backoff}
          onChange={backoff => change({ backoff })}
          options={[
            ['exponential', 'twice as long each time'],
            ['fixed', 'equally long'],
            ['relative', 'parts of its interval'],
          ]}
          problem={problem}
          names={['retry.backoff']}
        />
        <NumberField
          {...props}
          label={form.backoff === 'relative' ? 'Intervals at most' : 'Seconds'}
          field="delay"
          names={[
            'retry.backoff.delay_seconds',
            'retry.backoff.base_seconds',
            'retry.backoff.max_factor',
          ]}
        />
        {form.backoff === 'exponential' && (
          <NumberField
            {...props}
            label="Seconds at most"
            field="delayMax"
            names={['retry.backoff.max_seconds']}
          />
        )}
        <NumberField
          {...props}
          label="Stopped after seconds"
          field="timeout"
          names={['timeout_seconds']}
          hint="Empty for as long as it takes."
        />
      </div>
    </fieldset>
  )
}

export function FiringFields(props: SectionProps) {
  const { form, change, problem } = props
  return (
    <fieldset>
      <legend>When firings are missed or overlap</legend>
      <div class="pair">
        <ChoiceField
          label="Missed while down"
          value={form.missed}
          onChange={missed => change({ missed })}
          options={[
            ['once', 'run once'],
            ['skip', 'do not run'],
            ['all', 'run all of them'],
          ]}
          problem={problem}
          names={['missed']}
        />
        <ChoiceField
          label="Still running"
          value={form.overlap}
          onChange={overlap => change({ overlap })}
          options={[
            ['skip', 'skip the firing'],
            ['queue', 'wait behind it'],
            ['replace', 'abort the old run'],
            ['allow', 'run side by side'],
          ]}
          problem={problem}
          names={['overlap']}
        />
        <FiringLimits {...props} />
        <NumberField
          {...props}
          label="Late after seconds"
          field="grace"
          names={['grace_seconds']}
        />
        <NumberField
          {...props}
          label="Spread over seconds"
          field="jitter"
          names={['jitter_seconds']}
        />
        <NumberField
          {...props}
          label="Ends after runs"
          field="runLimit"
          names={['run_limit']}
          hint="Empty for no end."
        />
      </div>
    </fieldset>
  )
}

/** The numbers that some of the choices need. */
function FiringLimits(props: SectionProps) {
  const { missed, overlap } = props.form
  return (
    <>
      {missed === 'all' && (
        <>
          <NumberField {...props} label="Runs at most" field="catchUp" names={['missed.max']} />
          <NumberField
            {...props}
            label="Not older than seconds"
            field="catchUpAge"
            names={['missed.max_age_seconds']}
          />
        </>
      )}
      {overlap === 'queue' && (
        <NumberField
          {...props}
          label="Firings that wait at most"
          field="waiting"
          names={['overlap.limit']}
        />
      )}
    </>
  )
}

const priorities = [
  ['6', '6 critical'],
  ['5', '5 very high'],
  ['4', '4 high'],
  ['3', '3 normal'],
  ['2', '2 low'],
  ['1', '1 very low'],
] as const

export function PlaceFields({ form, change, problem }: SectionProps) {
  return (
    <fieldset>
      <legend>Where it stands</legend>
      <div class="pair">
        <TextField
          label="Tags"
          value={form.tags}
          onChange={tags => change({ tags })}
          placeholder="billing, nightly"
          problem={problem}
          names={['tags']}
        />
        <TextField
          label="Queue"
          value={form.queue}
          onChange={queue => change({ queue })}
          problem={problem}
          names={['queue']}
        />
        <ChoiceField
          label="Priority"
          value={form.priority as '3'}
          onChange={priority => change({ priority })}
          options={priorities}
          problem={problem}
          names={['priority']}
        />
      </div>
    </fieldset>
  )
}
