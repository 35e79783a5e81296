// Random writes of records, on their own or beside jobs.

import type { RecordWrite } from '../../src/core/record.ts'
import { MINUTE } from '../../src/core/time.ts'
import type { World } from './world.ts'

export const recordKinds = ['note', 'key'] as const

export function randomWrites({ random, now }: World): RecordWrite[] {
  return Array.from({ length: random.int(1, 3) }, (): RecordWrite => {
    return {
      kind: random.pick(recordKinds),
      key: random.pick(['a', 'b', 'ö']),
      value: random.pick([null, 1, { deep: ['x'] }]),
      expectedVersion: random.pick([null, 0, 0, 1, 2]),
      expireAt: random.chance(0.5) ? now + random.int(0, 2 * MINUTE) : null,
      remove: random.chance(0.15),
    }
  })
}
