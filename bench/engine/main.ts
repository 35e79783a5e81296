// The engine on each store: throughput, lateness, latency, and what many waiting jobs cost.
// Usage: tsx bench/engine/main.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { show, type Figure } from '../support.ts'
import { backlog } from './backlog.ts'
import { openGround, type Ground, type GroundName } from '../ground.ts'
import { herd, idleLatency } from './herd.ts'
import { throughput } from './throughput.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')
const at = process.argv.indexOf('--store')
const names = (at < 0 ? 'sqlite,postgres,redis' : (process.argv[at + 1] ?? '')).split(',')

const parts = (ground: Ground): readonly (() => Promise<Figure[]>)[] => [
  () => throughput(ground, isQuick ? 1 : 5, isQuick ? 20_000 : 100_000),
  () => herd(ground, isQuick ? 1 : 5, 10_000),
  () => idleLatency(ground, isQuick ? 50 : 300),
  () => backlog(ground, isQuick ? 100_000 : 1_000_000, isQuick ? 3_000 : 20_000),
]

const figures: (Figure & { store: string })[] = []
for (const name of names) {
  const ground = await openGround(name as GroundName)
  try {
    if (!isJson) console.log(`\n  on ${ground.name}`)
    for (const part of parts(ground)) {
      const measured = await part()
      figures.push(...measured.map(figure => ({ ...figure, store: ground.name })))
      if (!isJson) measured.forEach(show)
    }
  } finally {
    await ground.end()
  }
}
if (isJson) console.log(JSON.stringify(figures, null, 2))
