// Kills a working process at random moments, again and again, and looks at what it left.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../simulation/random.ts'
import { Child } from './children.ts'
import { checkStore, isIntact, readAcknowledged } from './kill-check.ts'

export interface KillSummary {
  kills: number
  /** Writes that were acknowledged, and looked for afterwards. */
  acknowledged: number
  readonly lost: string[]
  readonly duplicates: string[]
  readonly violations: string[]
  integrityChecks: number
}

/** Children loading ahead of their turn: starting Node takes longer than a life. */
const WARM = 3
/** Most are killed at work, some while they open the file and put back what others left. */
const AT_WORK = 0.75
const WORK_MAX_MS = 150
const START_MAX_MS = 120
const INTEGRITY_EVERY = 20

export async function killLoop(kills: number, seed: number): Promise<KillSummary> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-kill-'))
  const path = join(folder, 'carillon.db')
  const ackPath = join(folder, 'acknowledged')
  await writeFile(ackPath, '')
  const random = new Random(`kill ${seed}`)
  const summary: KillSummary = {
    kills: 0,
    acknowledged: 0,
    lost: [],
    duplicates: [],
    violations: [],
    integrityChecks: 0,
  }
  const warm: Child[] = []
  let lives = 0
  const fill = () => {
    while (warm.length < WARM && lives < kills) {
      warm.push(new Child('kill-child.ts', [path, ackPath, String(++lives)]))
    }
  }
  try {
    for (fill(); warm.length > 0; fill()) {
      await killOne(warm.shift()!, random)
      summary.kills++
      if (summary.kills % INTEGRITY_EVERY === 0 || summary.kills === kills) {
        await look(path, ackPath, summary)
      }
    }
  } finally {
    await Promise.all(warm.map(child => child.kill()))
    await rm(folder, { recursive: true, force: true })
  }
  return summary
}

async function killOne(child: Child, random: Random): Promise<void> {
  await child.ready()
  child.say('go')
  if (random.chance(AT_WORK)) {
    await child.line(line => line === 'working', 30_000)
    await sleep(random.int(0, WORK_MAX_MS))
  } else await sleep(random.int(0, START_MAX_MS))
  await child.kill()
  if (child.errors !== '') throw new Error(`a child failed by itself: ${child.errors}`)
}

/** A database is given up after so many kills, so that looking at all of it stays quick. */
const KILLS_PER_DATABASE = 200

/** One process at a time on one file, killed as often as asked; returns the exit code. */
export async function killPreset(
  kills: number,
  seed: number,
  say: (text: string) => void,
): Promise<number> {
  let [done, acknowledged, found] = [0, 0, 0]
  while (done < kills) {
    const batch = Math.min(KILLS_PER_DATABASE, kills - done)
    const summary = await killLoop(batch, seed * 1_000_003 + done)
    done += summary.kills
    acknowledged += summary.acknowledged
    const { lost, duplicates, violations } = summary
    for (const text of [...lost, ...duplicates, ...violations]) say(text)
    found += lost.length + duplicates.length + violations.length
    say(`${done} kills, ${acknowledged} acknowledged writes checked, ${found} found wrong`)
  }
  return found > 0 ? 1 : 0
}

/** Everything acknowledged since the beginning is looked for each time. */
async function look(path: string, ackPath: string, summary: KillSummary): Promise<void> {
  if (!isIntact(path)) summary.violations.push(`integrity_check after ${summary.kills} kills`)
  summary.integrityChecks++
  const acknowledged = readAcknowledged(ackPath)
  const { lost, duplicates, violations } = await checkStore(path, acknowledged)
  summary.acknowledged = acknowledged.created.length + acknowledged.outcomes.length
  for (const [into, found] of [
    [summary.lost, lost],
    [summary.duplicates, duplicates],
    [summary.violations, violations],
  ] as const) {
    into.push(...found.filter(text => !into.includes(text)))
  }
}
