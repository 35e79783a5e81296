// Compiles src to dist and bundles the dashboard, then removes from dist what no longer has a
// source. dist is never emptied first, so a process that runs from it keeps its files.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const compile = (): number => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', 'tsconfig.build.json']
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1
}

const emitted = /(?:\.d\.ts|\.js)(?:\.map)?$/

const removeStale = (): void => {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!emitted.test(path) || /^dashboard[\\/]/.test(path)) continue
    const source = path.replace(emitted, '.ts')
    const isCurrent = existsSync(join(root, 'src', source)) && !source.endsWith('.test.ts')
    if (!isCurrent) rmSync(join(dist, path))
  }
}

process.exitCode = compile()
if (process.exitCode === 0) {
  removeStale()
  await buildDashboard(root)
}
