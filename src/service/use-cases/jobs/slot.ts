// One mark of a heartbeat: a decision about a job, or a run beside its schedule.

import { z } from 'zod'

const count = z.int().nonnegative()
const moment = z.iso.datetime()

export const slotSchema = z.strictObject({
  from: moment,
  to: moment,
  origin: z
    .enum(['schedule', 'manual', 'retry', 'backfill'])
    .meta({ description: 'Anything but schedule was asked for beside it: nothing was expected.' }),
  expected: count,
  ok: count,
  failed: count,
  cancelled: count,
  skipped: count,
  missed: count,
  running: count,
  duration_ms: z.number().nullable(),
  late_ms: z.number().nullable(),
  run_id: z.string().nullable(),
  reason: z.string().nullable(),
})

export type Slot = z.output<typeof slotSchema>
