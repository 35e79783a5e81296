// Common schedules without knowing the syntax: every so many minutes, each day, some days of a week,
// some day of a month.

import { useState } from 'preact/hooks'
import { ChoiceField, TextField } from '../../forms/field.tsx'
import { Segments } from '../../components/segments.tsx'
import { buildCron, weekdays, type Rule } from './rule.ts'

const kinds = [
  ['minutes', 'Minutes'],
  ['hours', 'Hours'],
  ['days', 'Days'],
  ['month', 'Month'],
] as const

const start: Rule = {
  kind: 'days',
  every: '15',
  time: '07:00',
  days: ['MON', 'TUE', 'WED', 'THU', 'FRI'],
  dayOfMonth: '1',
}

export function Builder({ onBuilt }: { readonly onBuilt: (cron: string) => void }) {
  const [rule, setRule] = useState(start)
  const change = (changes: Partial<Rule>) => setRule({ ...rule, ...changes })
  const built = buildCron(rule)
  return (
    <div class="stack">
      <Segments
        label="Repeats by"
        value={rule.kind}
        options={kinds}
        onChange={kind => change({ kind, every: kind === 'hours' ? '1' : '15' })}
      />
      {(rule.kind === 'minutes' || rule.kind === 'hours') && (
        <ChoiceField
          label={`Every so many ${rule.kind}`}
          value={rule.every}
          onChange={every => change({ every })}
          options={(rule.kind === 'minutes' ? everyMinutes : everyHours).map(n => [n, n])}
        />
      )}
      {rule.kind === 'month' && (
        <ChoiceField
          label="On the day"
          value={rule.dayOfMonth}
          onChange={dayOfMonth => change({ dayOfMonth })}
          options={monthDays}
        />
      )}
      {rule.kind === 'days' && <Days rule={rule} change={change} />}
      {(rule.kind === 'days' || rule.kind === 'month') && (
        <TextField
          label="At"
          value={rule.time}
          onChange={time => change({ time })}
          placeholder="07:00"
          hint="In the time zone of the expression, 00:00 to 23:59."
        />
      )}
      <div class="row">
        <button
          type="button"
          class="button"
          disabled={built === null}
          onClick={() => built !== null && onBuilt(built)}
        >
          Use {built === null ? 'it' : <code>{built}</code>}
        </button>
      </div>
    </div>
  )
}

const everyMinutes = ['1', '2', '5', '10', '15', '20', '30']
const everyHours = ['1', '2', '3', '4', '6', '8', '12']
const monthDays: readonly (readonly [string, string])[] = [
  ...Array.from({ length: 28 }, (_, i) => [String(i + 1), String(i + 1)] as const),
  ['L', 'the last'],
]

interface DaysProps {
  readonly rule: Rule
  readonly change: (changes: Partial<Rule>) => void
}

function Days({ rule, change }: DaysProps) {
  const toggle = (day: string) =>
    change({
      days: weekdays.filter(one => (one === day) !== rule.days.includes(one)),
    })
  return (
    <fieldset>
      <legend>On</legend>
      <div class="row">
        {weekdays.map(day => (
          <label key={day} class="check">
            <input type="checkbox" checked={rule.days.includes(day)} onChange={() => toggle(day)} />
            {day.slice(0, 1) + day.slice(1).toLowerCase()}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
