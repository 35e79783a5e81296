// The service on each store: how fast it starts, lists under load, many executions, a cancel.
// Usage: tsx bench/http/main.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { show, type Figure } from '../support.ts'
import { openGround, type Ground, type GroundName } from '../ground.ts'
import { lists, type Size } from './lists.ts'
import { atOnce, cancelling, starting } from './nodes.ts'
import { assertBuilt } from './rig.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')
const at = process.argv.indexOf('--store')
const names = (at < 0 ? 'sqlite,postgres,redis' : (process.argv[at + 1] ?? '')).split(',')

const size: Size = isQuick
  ? { jobs: 20_000, runsPerSecond: 1_000, seconds: 8, requestsPerSecond: 50 }
  : { jobs: 100_000, runsPerSecond: 1_000, seconds: 30, requestsPerSecond: 50 }

const parts = (ground: Ground): readonly (() => Promise<Figure[]>)[] => [
  () => starting(ground, isQuick ? 2 : 5),
  () => lists(ground, size),
  () => atOnce(ground),
  () => cancelling(ground, isQuick ? 3 : 10),
]

assertBuilt()
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
