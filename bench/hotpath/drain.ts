// One process of the CPU measure: fills a store, or drains it, with or without a profile.
// drain.ts FOLDER URL JOBS fill|plain|profiled

import { Session, type Profiler } from 'node:inspector/promises'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { MIXED_HANDLERS } from '../side/mixed-jobs.ts'
import { fillMixed, openCheckout } from './checkout.ts'

const SAMPLE_US = 200

const [folder, url, count, step] = process.argv.slice(2) as [string, string, string, string]
const jobs = Number(count)
const checkout = await openCheckout(folder)
const engine = await checkout.open(url)

if (step === 'fill') await fillMixed(checkout, engine, jobs)
else {
  if (url === 'memory:') await fillMixed(checkout, engine, jobs)
  process.stdout.write(JSON.stringify(await drained()))
}
await engine.store.close()

async function drained() {
  for (const name of MIXED_HANDLERS) engine.handlers.set(name, async () => {})
  let left = jobs
  const done = new Promise<void>(resolve => {
    engine.events.on('settled', ({ settled }) => {
      left -= settled.length
      if (left <= 0) resolve()
    })
  })
  const session = step === 'profiled' ? new Session() : null
  session?.connect()
  await session?.post('Profiler.enable')
  await session?.post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
  await session?.post('Profiler.start')
  const cpu = process.cpuUsage()
  const from = performance.now()
  await engine.node.start()
  await done
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  const profile = session === null ? null : (await session.post('Profiler.stop')).profile
  await engine.node.stop(0)
  return { cpuUs: user + system, ms, storeShare: profile === null ? 0 : storeShareOf(profile) }
}

/** Of the samples in which work was done, those with the store on the stack; GC belongs to both. */
function storeShareOf({ nodes, samples = [] }: Profiler.Profile): number {
  const storePrefix = pathToFileURL(join(folder, 'src/store/')).href
  const byId = new Map(nodes.map(node => [node.id, node]))
  const parents = new Map<number, number>()
  for (const { id, children } of nodes) for (const child of children ?? []) parents.set(child, id)
  const isStore = new Map<number, boolean>()
  const inStore = (id: number): boolean => {
    const known = isStore.get(id)
    if (known !== undefined) return known
    const { callFrame } = byId.get(id)!
    const parent = parents.get(id)
    const found = callFrame.url.startsWith(storePrefix) || (parent !== undefined && inStore(parent))
    isStore.set(id, found)
    return found
  }
  const noWork = new Set(['(idle)', '(garbage collector)', '(root)', '(program)'])
  let work = 0
  let store = 0
  for (const sample of samples) {
    if (noWork.has(byId.get(sample)!.callFrame.functionName)) continue
    work++
    if (inStore(sample)) store++
  }
  return work === 0 ? 0 : store / work
}
