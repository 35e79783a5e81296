// One new job for one caller: what did not go in is an error.

import { SchedulerError } from '../../../core/errors.ts'
import type { Client } from '../../../engine/client.ts'

export async function insert(
  client: Client,
  job: Parameters<Client['create']>[0][number],
): Promise<void> {
  const [inserted] = await client.create([job])
  switch (inserted!.result) {
    case 'inserted':
      return
    case 'full':
      throw new SchedulerError('QUEUE_FULL', `queue ${job.spec.queue} is full`)
    default:
      throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
  }
}
