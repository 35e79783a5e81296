// The service on each store: how fast it starts, lists under load, many executions, a cancel.
// Usage: tsx bench/http/main.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { isQuick, onStores } from '../on-stores.ts'
import { lists, type Size } from './lists.ts'
import { atOnce, cancelling, starting } from './nodes.ts'
import { assertBuilt } from './rig.ts'

const size: Size = isQuick
  ? { jobs: 20_000, runsPerSecond: 1_000, seconds: 8, requestsPerSecond: 50 }
  : { jobs: 100_000, runsPerSecond: 1_000, seconds: 30, requestsPerSecond: 50 }

assertBuilt()
await onStores(ground => [
  () => starting(ground, isQuick ? 2 : 5),
  () => lists(ground, size),
  () => atOnce(ground),
  () => cancelling(ground, isQuick ? 3 : 10),
])
