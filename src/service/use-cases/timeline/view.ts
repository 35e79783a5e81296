// The shape of a timeline as callers see it.

import { z } from 'zod'
import { executionStatuses } from '../../compat/executions/view.ts'
import type { RunSums } from '../runs/history.ts'

const at = z.iso.datetime()
const count = z.int().nonnegative()

const partSchema = z
  .strictObject({
    from: at,
    completed: count,
    failed: count,
    cancelled: count.meta({ description: 'Cancelled, or skipped by their handlers.' }),
    retried: count.meta({ description: 'Attempts that failed and were tried again.' }),
  })
  .meta({ id: 'TimelinePart', description: 'Runs that ended in one part of the window.' })

export const rowSchema = z.strictObject({
  id: z.string().meta({ description: 'The id of the job, or the name of the tenant or node.' }),
  label: z.string(),
  job_id: z.string().nullable().meta({ description: 'Null where a row is not that of one job.' }),
  tenant: z.string().nullable(),
  expected_ms: z.number().nullable().meta({ description: 'How long its runs took on average.' }),
  runs: z
    .array(
      z.strictObject({
        job_name: z.string(),
        run_id: z.string(),
        execution_id: z.string(),
        attempt: z.int(),
        status: z.enum(executionStatuses),
        is_retried: z.boolean().meta({ description: 'It failed, and its run was tried again.' }),
        scheduled_for: at,
        claimed_at: at,
        started_at: at,
        finished_at: at.nullable(),
        owner: z.string(),
      }),
    )
    .meta({ description: 'One by one; where there are too many, only those under way.' }),
  parts: z.array(partSchema).meta({ description: 'In place of the runs that are over.' }),
  upcoming: z.array(z.strictObject({ at, job_name: z.string(), is_estimate: z.boolean() })),
  coming: z
    .array(z.strictObject({ from: at, count }))
    .meta({ description: 'In place of `upcoming`, where there are too many to tell one by one.' }),
})

export type TimelineRow = z.output<typeof rowSchema>
export type PartView = z.output<typeof partSchema>

export const answer = z
  .strictObject({
    from: at,
    to: at,
    now: at,
    part_ms: z.int().meta({ description: 'How long each part of a row is.' }),
    rows: z.array(rowSchema),
    rows_total: count.meta({
      description: 'All rows there are: those shown have failures, or are the busiest.',
    }),
    completed: count.meta({ description: 'Of all rows, also those that are not shown.' }),
    failed: count,
    cancelled: count,
    retried: count,
    starts: count.meta({ description: 'Starts to come in the window, of all rows.' }),
    concurrency: z
      .array(z.strictObject({ from: at, running: z.int() }))
      .meta({ description: 'The most at one moment, from `complete_since` on.' }),
    coming: z
      .array(z.strictObject({ from: at, count }))
      .meta({ description: 'Starts to come in parts of the time ahead, of all rows.' }),
    complete_since: at.meta({ description: 'Past runs leave nothing out after it.' }),
    complete_until: at.meta({ description: 'Coming starts leave nothing out before it.' }),
    is_cut: z.boolean().meta({
      description: 'There was more than was read: see from when and until when it is whole.',
    }),
  })
  .meta({ id: 'Timeline' })

export function partView(from: string, { cancelled, skipped, ...sums }: RunSums): PartView {
  return { from, ...sums, cancelled: cancelled + skipped }
}
