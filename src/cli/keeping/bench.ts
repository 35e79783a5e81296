// A store beside the one at hand, for a measured load; it goes afterwards, also when it breaks off.

import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { filePath, systemIds } from '../../compose.ts'
import { bench, type BenchReport } from '../../doctor/bench.ts'
import { systemClock } from '../../runtime/clock.ts'
import { createEngine } from '../../create-engine.ts'
import type { Context } from '../context.ts'
import { usage } from '../problem.ts'
import { withStore, withMaintenance } from './store.ts'

export interface BenchLoad {
  readonly jobs: number
  readonly slots: number
  readonly atOnce: number
  readonly singles: number
}

const MIB = 1024 * 1024

export async function benchStore(
  context: Context,
  url: string,
  { slots, ...load }: BenchLoad,
): Promise<BenchReport & { readonly store: string; readonly rss_mib: number }> {
  const ids = systemIds()
  const beside = besideOf(url, ids.token().slice(0, 8))
  const made = madeFolder(beside)
  const { terminal, signal, globals } = context
  const onStep = (step: string) => {
    if (terminal.isTerminal && !globals.isQuiet) terminal.err(`\r\u001b[2K${step} …`)
  }
  try {
    return await withMaintenance(beside, async maintenance => {
      try {
        return await withStore(beside, async store => {
          const engine = createEngine({
            store,
            clock: systemClock,
            ids,
            settings: { nodeId: 'bench', slots },
          })
          const report = await bench({ engine, signal, onStep, ...load })
          const rss_mib = Math.round(process.memoryUsage().rss / MIB)
          return { ...report, store: store.kind, rss_mib }
        })
      } finally {
        await maintenance.drop()
      }
    })
  } finally {
    if (made !== null) rmdirSync(made)
    if (terminal.isTerminal && !globals.isQuiet) terminal.err('\r\u001b[2K')
  }
}

/** On the same disk or server, under a name nobody else has. */
function besideOf(url: string, token: string): string {
  if (url === 'memory:') throw usage('memory: has no disk or server to measure')
  if (url.startsWith('sqlite:')) {
    return `sqlite:${join(dirname(filePath(url)), `carillon-bench-${token}.db`)}`
  }
  const address = new URL(url)
  const name = address.protocol.startsWith('redis') ? 'namespace' : 'schema'
  address.searchParams.set(name, `carillon_bench_${token}`)
  return address.href
}

/** The folder of the store, if it had to be made. */
function madeFolder(url: string): string | null {
  if (!url.startsWith('sqlite:')) return null
  const folder = dirname(filePath(url))
  if (existsSync(folder)) return null
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}
