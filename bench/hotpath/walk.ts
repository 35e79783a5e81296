// Which files and functions one job executes, counted by V8: from create to its row, and from the time
// it is due until its outcome is stored.

import { mkdtempSync, rmSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openCheckout } from './checkout.ts'

/** Long enough for the node to fall asleep after the create. */
const DUE_MS = 600
/** So long before it is due the count begins, and so long after it is settled it ends. */
const MARGIN_MS = 50

export interface Executed {
  readonly files: readonly { readonly path: string; readonly functions: readonly string[] }[]
  /** Named functions; module bodies ran before. */
  readonly functions: number
}

export async function walk(folder: string): Promise<{ run: Executed; create: Executed }> {
  const place = mkdtempSync(join(tmpdir(), 'carillon-hotpath-'))
  const checkout = await openCheckout(folder)
  const engine = await checkout.open(`sqlite:${join(place, 'jobs.db')}`)
  const session = new Session()
  session.connect()
  try {
    engine.handlers.set('noop', () => ({ ok: true }))
    await engine.node.start()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    // Stepping over a first job leaves out what is done once for each process, such as preparing.
    for (const isCounted of [false, true]) {
      const dueAt = engine.clock.now() + DUE_MS
      const made = checkout.job({
        handler: 'noop',
        payload: null,
        trigger: { kind: 'once', at: dueAt },
      })
      const settled = new Promise<void>(resolve => {
        const stop = engine.events.on('settled', () => {
          stop()
          resolve()
        })
      })
      await session.post('Profiler.takePreciseCoverage')
      await engine.client.create([made])
      const create = executed(await session.post('Profiler.takePreciseCoverage'), folder)
      await sleep(DUE_MS - MARGIN_MS)
      await session.post('Profiler.takePreciseCoverage')
      await settled
      await sleep(MARGIN_MS)
      const run = executed(await session.post('Profiler.takePreciseCoverage'), folder)
      if (isCounted) return { run, create }
    }
    throw new Error('unreachable')
  } finally {
    session.disconnect()
    await engine.node.stop(0)
    await engine.store.close()
    rmSync(place, { recursive: true })
  }
}

function executed({ result }: Profiler.TakePreciseCoverageReturnType, folder: string): Executed {
  const prefix = pathToFileURL(join(folder, 'src/')).href
  const files: { path: string; functions: string[] }[] = []
  let functions = 0
  for (const { url, functions: found } of result) {
    const path = url.split('?')[0]!
    if (!path.startsWith(prefix)) continue
    const called = found.filter(({ ranges }) => ranges[0]!.count > 0)
    if (called.length === 0) continue
    const names = called.map(({ functionName }) => functionName).filter(isOurs)
    files.push({ path: path.slice(prefix.length), functions: names })
    functions += names.length
  }
  return { files: files.sort((a, b) => a.path.localeCompare(b.path)), functions }
}

/** Not module bodies, and not what the loader adds to keep the names of functions. */
const isOurs = (name: string) => name !== '' && name !== '__name'
