// CPU time a job costs: mixed jobs made by another process are drained by one that did not make them
// (memory: by the only one). A second, profiled drain tells which part of it the store had.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

export interface CpuCost {
  readonly totalUs: number
  readonly storeUs: number
  readonly aboveUs: number
  readonly perSecond: number
}

export interface DrainSize {
  readonly jobs: number
  readonly rounds: number
}

const drainer = fileURLToPath(new URL('drain.ts', import.meta.url))

/** The medians of the rounds. */
export async function cpuPerJob(
  folder: string,
  store: 'memory' | 'sqlite',
  { jobs, rounds }: DrainSize,
): Promise<CpuCost> {
  const costs: CpuCost[] = []
  for (let round = 0; round < rounds; round++) {
    const plain = drain(folder, store, jobs, 'plain')
    const profiled = drain(folder, store, jobs, 'profiled')
    const totalUs = plain.cpuUs / jobs
    const storeUs = totalUs * profiled.storeShare
    const perSecond = (jobs / plain.ms) * 1_000
    costs.push({ totalUs, storeUs, aboveUs: totalUs - storeUs, perSecond })
  }
  const median = (key: keyof CpuCost) =>
    costs.map(cost => cost[key]).sort((a, b) => a - b)[Math.floor(costs.length / 2)]!
  return {
    totalUs: median('totalUs'),
    storeUs: median('storeUs'),
    aboveUs: median('aboveUs'),
    perSecond: median('perSecond'),
  }
}

interface Drained {
  readonly cpuUs: number
  readonly ms: number
  readonly storeShare: number
}

// oxlint-disable-next-line max-params -- the words of one command
function drain(folder: string, store: string, jobs: number, mode: string): Drained {
  const place = mkdtempSync(join(tmpdir(), 'carillon-hotpath-'))
  const url = store === 'memory' ? 'memory:' : `sqlite:${join(place, 'jobs.db')}`
  const call = (step: string) => {
    const args = ['--import', 'tsx', drainer, folder, url, String(jobs), step]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${step} failed: ${stderr}`)
    return stdout
  }
  try {
    if (store !== 'memory') call('fill')
    return JSON.parse(call(mode)) as Drained
  } finally {
    rmSync(place, { recursive: true })
  }
}
