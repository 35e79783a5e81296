// The smallest program: one call makes a durable schedule on the default store.
// It stops itself after three runs; without that it would go on until Ctrl-C.

import { schedule, stopSchedules } from 'carillon'

let left = 3

const cleanup = await schedule('cleanup', '1s', async ({ run }) => {
  console.log(`cleanup: run ${run.number}`)
  if (--left === 0) setImmediate(() => void stopSchedules())
})

console.log(`cleanup is due at ${cleanup.next?.toISOString()}`)
