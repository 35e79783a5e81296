// The engine on each store: throughput, lateness, latency, and what many waiting jobs cost.
// Usage: tsx bench/engine/main.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { isQuick, onStores } from '../on-stores.ts'
import { backlog } from './backlog.ts'
import { herd, idleLatency } from './herd.ts'
import { throughput } from './throughput.ts'

await onStores(ground => [
  () => throughput(ground, isQuick ? 1 : 5, isQuick ? 20_000 : 100_000),
  () => herd(ground, isQuick ? 1 : 5, 10_000),
  () => idleLatency(ground, isQuick ? 50 : 300),
  () => backlog(ground, isQuick ? 100_000 : 1_000_000, isQuick ? 3_000 : 20_000),
])
