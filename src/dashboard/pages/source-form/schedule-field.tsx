// How often a source is fetched: each day, each hour, or at an interval.

import { draftText } from '../../forms/draft.ts'
import { Segments } from '../../components/segments.tsx'
import { TextField } from '../../forms/field.tsx'
import type { FieldProps } from '../../forms/layout.ts'

const PREFIX = 'interval:'

const options = [
  ['daily', 'Daily'],
  ['hourly', 'Hourly'],
  ['interval', 'Every…'],
] as const

export function ScheduleField({ path, draft, set, form }: FieldProps) {
  const text = draftText(draft)
  const chosen = text === 'daily' || text === 'hourly' ? text : 'interval'
  return (
    <>
      <div class="wide">
        <Segments
          label="How often"
          value={chosen}
          options={options}
          onChange={next => set(next === 'interval' ? `${PREFIX}15m` : next)}
        />
      </div>
      {chosen === 'interval' && (
        <TextField
          label="Every"
          name={path}
          names={[path]}
          value={text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text}
          onChange={every => set(PREFIX + every)}
          placeholder="15m"
          problem={form.problem}
          isWide
          hint="30s, 15m, 6h, counted from the last success."
        />
      )}
    </>
  )
}
