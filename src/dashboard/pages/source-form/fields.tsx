// The fields of a source: its name and table, its request, what is kept of the answer, and when.

import { ChoiceField, TextField } from '../../forms/field.tsx'
import { moved, replaced, Rows, RowTools, without } from '../../forms/rows.tsx'
import { Segments } from '../../components/segments.tsx'
import { addField, type FieldForm, type Rhythm } from './form.ts'
import { RequestFields, type SourceSection } from './request-fields.tsx'

export function SourceFields(props: SourceSection) {
  return (
    <>
      <NameFields {...props} />
      <RequestFields {...props} />
      <AnswerFields {...props} />
      <WhenFields {...props} />
    </>
  )
}

function NameFields({ form, change, problem, isNew }: SourceSection) {
  const states = [...new Set(['active', 'inactive', form.status])]
  return (
    <div class="pair">
      {isNew && (
        <TextField
          label="Name"
          value={form.name}
          onChange={name => change({ name })}
          placeholder="exchange-rates"
          problem={problem}
          names={['name']}
          hint="It cannot be changed later."
        />
      )}
      <TextField
        label="Table"
        value={form.table}
        onChange={table => change({ table })}
        placeholder="exchange_rates"
        isMono
        problem={problem}
        names={['table']}
        hint="Made with the first page, if it is not there."
      />
      <ChoiceField
        label="State"
        value={form.status}
        onChange={status => change({ status })}
        options={states.map(state => [state, state] as const)}
        problem={problem}
        names={['status']}
      />
      <TextField
        label="Description"
        value={form.description}
        onChange={description => change({ description })}
        problem={problem}
        names={['description']}
      />
    </div>
  )
}

function AnswerFields({ form, change, problem }: SourceSection) {
  const { fields } = form
  const set = (at: number, changes: Partial<FieldForm>) =>
    change({ fields: replaced(fields, at, changes) })
  return (
    <>
      <fieldset>
        <legend>Answer</legend>
        <TextField
          label="Path of the records"
          value={form.dataPath}
          onChange={dataPath => change({ dataPath })}
          isMono
          problem={problem}
          names={['response.dataPath']}
          hint="Where the list is, such as data.items; . when the answer itself is the list."
        />
      </fieldset>
      <Rows
        title="Fields"
        add="Add a field"
        onAdd={() => change({ fields: addField(fields) })}
        hint="Which part of a record goes to which column."
      >
        {fields.map((field, at) => (
          <div key={field.key} class="form-row">
            <TextField
              label="From"
              value={field.source}
              onChange={source => set(at, { source })}
              placeholder="price.amount"
              isMono
              problem={problem}
              names={[`response.fields.${at}.source`]}
            />
            <TextField
              label="To column"
              value={field.target}
              onChange={target => set(at, { target })}
              placeholder="price"
              isMono
              problem={problem}
              names={[`response.fields.${at}.target`]}
            />
            <RowTools
              what={`field ${field.target || at + 1}`}
              at={at}
              count={fields.length}
              onMove={by => change({ fields: moved(fields, at, by) })}
              onRemove={() => change({ fields: without(fields, at) })}
            />
          </div>
        ))}
      </Rows>
    </>
  )
}

const rhythms: readonly (readonly [Rhythm, string])[] = [
  ['daily', 'Daily'],
  ['hourly', 'Hourly'],
  ['interval', 'Every…'],
]

function WhenFields({ form, change, problem }: SourceSection) {
  return (
    <fieldset>
      <legend>When</legend>
      <div>
        <Segments
          label="How often"
          value={form.rhythm}
          options={rhythms}
          onChange={rhythm => change({ rhythm })}
        />
      </div>
      {form.rhythm === 'interval' && (
        <TextField
          label="Every"
          value={form.interval}
          onChange={interval => change({ interval })}
          placeholder="15m"
          problem={problem}
          names={['schedule']}
          hint="30s, 15m, 6h, counted from the last success."
        />
      )}
      <div class="pair">
        <TextField
          label="Stops after (seconds)"
          type="number"
          value={form.timeout}
          onChange={timeout => change({ timeout })}
          problem={problem}
          names={['execution.timeout']}
        />
        <TextField
          label="Failures before it waits"
          type="number"
          value={form.maxRetries}
          onChange={maxRetries => change({ maxRetries })}
          problem={problem}
          names={['execution.maxRetries']}
        />
        <TextField
          label="Counted within"
          value={form.retryResetPeriod}
          onChange={retryResetPeriod => change({ retryResetPeriod })}
          placeholder="1d"
          problem={problem}
          names={['execution.retryResetPeriod']}
          hint="6h, 1d, 7d from the first failure; then the count is 0."
        />
      </div>
    </fieldset>
  )
}
