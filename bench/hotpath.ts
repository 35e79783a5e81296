// `npm run hotpath`: what one run executes, how much code there is, and what a job costs above the store.
// npm run hotpath -- [--src DIR] [--jobs N] [--rounds N] [--only walk,lines,shapes,cpu] [--json]

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuPerJob, type CpuCost } from './hotpath/cpu.ts'
import { lineCounts, shapesOfJob } from './hotpath/lines.ts'
import { walk, type Executed } from './hotpath/walk.ts'
import { root } from './side/fleet.ts'

const { values } = parseArgs({
  options: {
    /** Another checkout, such as that of an older commit. */
    src: { type: 'string', default: root },
    jobs: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'walk,lines,shapes,cpu' },
    json: { type: 'boolean', default: false },
    /** Names every file and function of the walk. */
    files: { type: 'boolean', default: false },
  },
})
const folder = resolve(values.src)
const parts = new Set(values.only.split(','))
const report: Record<string, unknown> = {}
const print = (text: string) => {
  if (!values.json) console.log(text)
}

if (parts.has('walk')) {
  const { run, create } = await walk(folder)
  report['run'] = run
  report['create'] = create
  print(`one no-op run on SQLite, due → settled    ${summary(run)}`)
  print(`create → row on SQLite, below HTTP        ${summary(create)}`)
  if (values.files) {
    print(`\ndue → settled:\n${detail(run)}`)
    print(`\ncreate → row:\n${detail(create)}`)
  }
}
if (parts.has('lines')) {
  const counts = lineCounts(folder)
  report['lines'] = counts
  for (const [area, count] of Object.entries(counts)) {
    print(`lines without tests, ${area.padEnd(32)} ${count}`)
  }
}
if (parts.has('shapes')) {
  const shapes = shapesOfJob(folder)
  report['shapes'] = shapes
  print(`shapes of a job (ARCHITECTURE.md)         ${shapes ?? 'not listed'}`)
}
if (parts.has('cpu')) {
  const size = { jobs: Number(values.jobs), rounds: Number(values.rounds) }
  for (const store of ['memory', 'sqlite'] as const) {
    const cost = await cpuPerJob(folder, store, size)
    report[`cpu-${store}`] = cost
    printCost(store, size.jobs, cost)
  }
}
if (values.json) console.log(JSON.stringify(report, null, 2))

function padded(us: number): string {
  return us.toFixed(1).padStart(5)
}

function printCost(store: string, jobs: number, cost: CpuCost): void {
  const { totalUs, storeUs, aboveUs, perSecond } = cost
  print(`${jobs} mixed jobs drained on ${store.padEnd(7)}         ${Math.round(perSecond)} jobs/s`)
  print(
    `  CPU µs a job: ${padded(totalUs)} in all, ${padded(storeUs)} in the store, ${padded(aboveUs)} above it`,
  )
}

function summary({ files, functions }: Executed): string {
  const layers = ['core', 'runtime', 'engine', 'jobs', 'store'].map(layer => {
    const own = files.filter(({ path }) => path.startsWith(`${layer}/`))
    const count = own.reduce((sum, file) => sum + file.functions.length, 0)
    return `${layer} ${own.length} / ${count}`
  })
  return `${files.length} files, ${functions} functions (${layers.join(', ')})`
}

function detail({ files }: Executed): string {
  return files.map(({ path, functions }) => `  ${path}: ${functions.join(' ')}`).join('\n')
}
