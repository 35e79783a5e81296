// The time zone of a cron expression, and below both what they mean: a sentence and the next times.

import { draftText } from '../../forms/draft.ts'
import { CronPreviewBox } from '../../components/cron-preview.tsx'
import { TextField } from '../../forms/field.tsx'
import type { FieldProps } from '../../forms/layout.ts'

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function TimezoneField({ path, draft, set, form, group }: FieldProps) {
  const { cron, dialect } = group.fields
  const timezone = draftText(draft)
  const query = {
    cron: draftText(cron),
    timezone,
    dialect: dialect === 'posix' ? dialect : 'extended',
  } as const
  return (
    <>
      <TextField
        label="Time zone"
        name={path}
        names={[path]}
        value={timezone}
        onChange={set}
        suggestions={zones}
        problem={form.problem}
      />
      <CronPreviewBox query={query} />
    </>
  )
}
