// Carillon beside its peers: sections by name, figures as they come, everything kept as JSON.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { across } from './across.ts'
import { Fleet, modules, root, type ModuleName } from './fleet.ts'
import { mixed } from './mixed.ts'
import { api, cron, nodes } from './others.ts'
import { startServers } from './places.ts'
import { print } from './print.ts'
import { Ledger, machine, type Results } from './results.ts'
import { schedules } from './schedules.ts'
import { backlog, flood, jobs, latency, type Run, type Scale } from './sections.ts'

export const sections: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  across,
  mixed,
  cron,
  jobs,
  latency,
  schedules,
  flood,
  backlog,
  nodes,
  api,
}

export interface Choice {
  readonly only: readonly string[]
  readonly peers: readonly string[] | null
  readonly scale: Scale
  readonly isJson: boolean
  /** What there is after each section: a run that is broken off loses one. */
  readonly onSection: (results: Results) => void
}

export async function compare(choice: Choice): Promise<Results> {
  const { only, peers, scale, isJson, onSection } = choice
  const names = Object.keys(modules) as ModuleName[]
  const wanted = names.filter(name => name === 'carillon' || !peers || peers.includes(name))
  const fleet = await Fleet.ready(wanted)
  const servers = await startServers()
  const ledger = new Ledger()
  const took: Record<string, number> = {}
  const tell = (text: string) => {
    if (!isJson && process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}`)
  }
  const resultsNow = (): Results => ({
    format: 1,
    at: new Date().toISOString(),
    isQuick: scale.isQuick,
    machine: machine(),
    servers: servers.versions,
    took,
    rows: ledger.rows(),
  })
  try {
    const run: Run = { fleet, servers, entries: await fleet.entries(), ledger, scale, tell }
    for (const name of only) {
      const from = performance.now()
      await sections[name]!(run)
      took[name] = Math.round((performance.now() - from) / 6_000) / 10
      tell('')
      onSection(resultsNow())
      if (!isJson) print(ledger.rows().filter(({ section }) => section === name))
    }
    return resultsNow()
  } finally {
    await fleet.end()
    await servers.end()
  }
}

export const resultsFile = join(root, 'bench/results/latest.json')

/** Sections that were not run keep what an earlier run of the same kind left. */
export function keep(results: Results, earlier: Results | null): void {
  const ran = new Set(results.rows.map(({ section }) => section))
  const isSame = earlier !== null && earlier.isQuick === results.isQuick
  const old = isSame ? earlier.rows.filter(({ section }) => !ran.has(section)) : []
  const took = isSame ? { ...earlier.took, ...results.took } : results.took
  mkdirSync(join(root, 'bench/results'), { recursive: true })
  const all = { ...results, took, rows: [...old, ...results.rows] }
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 1)}\n`)
}
