// The two forms of a job on the wire: that of crawl jobs, with the columns of their table, and the
// native one. What a job says in one form is left out of the other.

export const jobForms = ['crawl', 'native'] as const
export type JobForm = (typeof jobForms)[number]

export const askedForms = [...jobForms, 'both'] as const
export type AskedForm = (typeof askedForms)[number]

export const crawlOnly = [
  'source_id',
  'source_name',
  'url',
  'interval_minutes',
  'interval_type',
  'schedule_time',
  'schedule_enabled',
  'max_retries',
  'retry_backoff_seconds',
] as const

export const nativeOnly = ['trigger', 'handler', 'action', 'payload', 'retry'] as const

type FormField = (typeof crawlOnly)[number] | (typeof nativeOnly)[number]

/** Without the fields that only the other form has. */
export function inForm<T extends { readonly form: JobForm }>(
  view: T,
  asked: AskedForm = view.form,
): Omit<T, FormField> & Partial<T> {
  const shown: Partial<Record<string, unknown>> = { ...view }
  const others = { crawl: nativeOnly, native: crawlOnly, both: [] }[asked]
  for (const field of others) delete shown[field]
  return shown as Omit<T, FormField> & Partial<T>
}
