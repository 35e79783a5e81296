// The engine on SQLite: throughput, lateness, latency, and what a million waiting jobs cost.
// Usage: tsx bench/engine/main.ts [--quick] [--json]

import { show, type Figure } from '../support.ts'
import { backlog } from './backlog.ts'
import { herd, idleLatency } from './herd.ts'
import { throughput } from './throughput.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')

const parts: readonly (() => Promise<Figure[]>)[] = [
  () => throughput(isQuick ? 1 : 5, isQuick ? 20_000 : 100_000),
  () => herd(isQuick ? 1 : 5, 10_000),
  () => idleLatency(isQuick ? 50 : 300),
  () => backlog(isQuick ? 100_000 : 1_000_000, isQuick ? 3_000 : 20_000),
]

const figures: Figure[] = []
for (const part of parts) {
  const measured = await part()
  figures.push(...measured)
  if (!isJson) measured.forEach(show)
}
if (isJson) console.log(JSON.stringify(figures, null, 2))
