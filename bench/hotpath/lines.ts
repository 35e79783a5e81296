// Lines of code without tests, by area, and the shapes of a job that ARCHITECTURE.md lists.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Folders of each area; those that a checkout does not have count nothing. */
const areas: Readonly<Record<string, readonly string[]>> = {
  'sqlite + postgres + shared': [
    'src/store/sqlite',
    'src/store/postgres',
    'src/store/shared',
    'src/store/sql',
  ],
  redis: ['src/store/redis'],
  memory: ['src/store/memory'],
  engine: ['src/engine'],
  'runtime + jobs + remote + watch': ['src/runtime', 'src/jobs', 'src/remote', 'src/watch'],
  core: ['src/core'],
}
const SHAPES_HEADING = '## Shapes of a job'

export function lineCounts(folder: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [area, folders] of Object.entries(areas)) {
    counts[area] = folders.reduce((sum, part) => sum + linesIn(join(folder, part)), 0)
  }
  return counts
}

function linesIn(folder: string): number {
  if (!existsSync(folder)) return 0
  let lines = 0
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) lines += linesIn(path)
    else if (/\.(?:ts|sql|lua)$/.test(name) && !name.endsWith('.test.ts')) {
      lines += readFileSync(path, 'utf8').split('\n').length - 1
    }
  }
  return lines
}

/** The rows of the table below the heading; null without one. */
export function shapesOfJob(folder: string): number | null {
  const text = readFileSync(join(folder, 'ARCHITECTURE.md'), 'utf8')
  const [, section] = text.split(`${SHAPES_HEADING}\n`)
  if (section === undefined) return null
  const rows = section
    .split('\n## ')[0]!
    .split('\n')
    .filter(line => line.startsWith('| `'))
  return rows.length
}
