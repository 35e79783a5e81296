// Rolling deploys of three programs on one store, each release with another list of jobs, some of
// the old processes killed: no job that a running process declares is ever archived or held back.

import { setTimeout as pause } from 'node:timers/promises'
import type { LedgerEntry } from '../../../src/core/history/ledger.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Random } from '../../simulation/random.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { Child } from '../children.ts'
import { keep } from './chaos-run.ts'
import { check, type Report } from './check.ts'
import type { DeployOptions } from './deploy-child.ts'
import { openDirectly, readStore, settledDown, takeOver } from './evidence.ts'
import { openRig, type RigKind } from './rig.ts'
import { readWitness } from './witness.ts'

export interface DeploysOptions {
  readonly kind: RigKind
  readonly deploys: number
  readonly seed: number
  readonly onProgress?: (text: string) => void
}

export interface DeploysResult extends Report {
  readonly kind: RigKind
  readonly deploys: number
  readonly kills: number
  readonly kept: string | null
}

const programs = ['worker', 'web', 'billing'] as const
type ProgramName = (typeof programs)[number]

interface Process {
  readonly child: Child
  readonly nodeId: string
}

/** Every release of each program declares them. */
const lasting: Readonly<Record<ProgramName, readonly string[]>> = {
  worker: ['nightly', 'render', 'digest'],
  web: ['render'],
  billing: ['invoices', 'reminders'],
}
const EVERY_MS = 300
const LEASE_MS = 2_000
const START_MS = 60_000
const CALM_MS = 60_000
/** A release declares the feature of its own number and of the one before. */
const featuresOf = (release: number) =>
  [release, release - 1].filter(number => number > 0).map(number => `feature-${number}`)

const idOf = (name: string) => `default:default:${name}:main`

class Deploys {
  readonly #options: DeploysOptions
  readonly #url: string
  readonly #witness: string
  readonly #random: Random
  readonly running = new Map<ProgramName, Process>()
  readonly killed: string[] = []
  #started = 0

  constructor(options: DeploysOptions, url: string, witness: string) {
    this.#options = options
    this.#url = url
    this.#witness = witness
    this.#random = new Random(`deploys ${options.seed}`)
  }

  async start(name: ProgramName, features: readonly string[]): Promise<Process> {
    const nodeId = `${name}-${this.#started++}`
    const options: DeployOptions = {
      url: this.#url,
      nodeId,
      witness: this.#witness,
      jobs: [...lasting[name], ...(name === 'worker' ? features : [])],
      runsJobs: name !== 'web',
      everyMs: EVERY_MS,
      leaseMs: LEASE_MS,
    }
    const child = new Child('faults/deploy-child.ts', [])
    await child.ready()
    child.say(`go ${JSON.stringify(options)}`)
    await expectLine(child, 'working', nodeId)
    return { child, nodeId }
  }

  /** The new release starts beside the old one, which then ends in order or is killed. */
  async replace(name: ProgramName, features: readonly string[], isKilled: boolean): Promise<void> {
    const old = this.running.get(name)
    this.running.set(name, await this.start(name, features))
    if (!old) return
    if (isKilled) this.killed.push(old.nodeId)
    else await this.#stop(old)
    await old.child.kill()
  }

  async #stop({ child, nodeId }: Process): Promise<void> {
    child.say('stop')
    await expectLine(child, 'stopped', nodeId)
  }

  async run(): Promise<void> {
    const { deploys, onProgress } = this.#options
    for (const name of programs) await this.replace(name, [], false)
    for (let release = 1; release <= deploys; release++) {
      const name = release % 2 === 0 ? 'worker' : this.#random.pick(programs)
      await this.replace(name, featuresOf(release), this.#random.chance(0.4))
      await pause(this.#random.int(EVERY_MS, 3 * EVERY_MS))
      onProgress?.(`${release} of ${deploys} deploys`)
    }
    // The last one declares every feature there ever was: they come back with their history.
    const all = Array.from({ length: deploys }, (_, i) => `feature-${i + 1}`)
    await this.replace('worker', all, false)
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.values()].map(one => this.#stop(one)))
    await this.kill()
  }

  async kill(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ child }) => child.kill()))
  }
}

async function expectLine(child: Child, line: string, nodeId: string): Promise<void> {
  const found = await child.line(text => text === line, START_MS)
  if (found === null) throw new Error(`${nodeId} is not ${line}: ${child.errors}`)
}

export async function deploysRun(options: DeploysOptions): Promise<DeploysResult> {
  const witness = await scratch('witness')
  const rig = await openRig(options.kind)
  const deploys = new Deploys(options, rig.url, witness.folder)
  try {
    await deploys.run()
    return await judge(options, rig.url, deploys, witness.folder)
  } finally {
    await deploys.kill()
    await rig.close()
    await witness.remove()
  }
}

async function judge(
  options: DeploysOptions,
  url: string,
  deploys: Deploys,
  folder: string,
): Promise<DeploysResult> {
  const store = await openDirectly(url, systemClock)
  try {
    const quietAt = systemClock.now()
    const left = await settledDown(store, quietAt, CALM_MS)
    await deploys.end()
    await takeOver(store, LEASE_MS * 2, systemClock)
    const seeded = Object.values(lasting).flat().map(idOf)
    const { killed: dead } = deploys
    const lines = readWitness(folder)
    const dump = await readStore(store, systemClock)
    const evidence = { ...dump, lines, seeded: [...new Set(seeded)], quietAt, dead, steps: [] }
    const declared = dump.jobs.map(({ id }) => ({ kind: 'asked', job: id }) as const)
    // What programs declare was asked for, though no line says so.
    const asked = declared.map(line => ({ ...line, at: 0, node: 'list', dueAt: 0 }))
    const report = check({ ...evidence, lines: [...asked, ...lines] })
    report.violations.push(...left, ...heldBack(dump.ledgers))
    const isClean = [report.lost, report.duplicates, report.violations].flat().length === 0
    const kept = isClean ? null : await keep(evidence, report, [])
    return { ...report, kind: options.kind, deploys: options.deploys, kills: dead.length, kept }
  } finally {
    await store.close()
  }
}

/** A job of every release has no occurrence for which nobody declared it. */
function heldBack(ledgers: ReadonlyMap<string, readonly LedgerEntry[]>): string[] {
  const names = new Set(Object.values(lasting).flat().map(idOf))
  return [...ledgers]
    .filter(([id]) => names.has(id))
    .flatMap(([id, entries]) => {
      const count = entries.filter(
        entry => entry.decision === 'skip' && entry.reason === 'undeclared',
      ).length
      return count > 0 ? [`${id} was always declared and has ${count} undeclared skips`] : []
    })
}

export function deploysLines(result: DeploysResult): string[] {
  const { kind, deploys, kills, occurrences, lost, duplicates, violations, kept } = result
  return [
    ...[...lost, ...duplicates, ...violations].slice(0, 20).map(text => `  ${text}`),
    ...(kept === null ? [] : [`${kind}: everything seen is in ${kept}`]),
    `${kind}: ${deploys} deploys, ${kills} old processes killed, ${occurrences} occurrences checked`,
    `${kind}: ${duplicates.length} duplicates, ${lost.length} losses, ` +
      `${violations.length} violations (archived jobs and undeclared skips included)`,
  ]
}
