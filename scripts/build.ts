// Makes dist from src: the code in bundles, SQL and types file by file, the dashboard; then removes from
// dist what is left of earlier builds. dist is never emptied first, so a process that runs from it
// keeps its files. `--code` makes the code alone.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { copyAssets } from './build/assets.ts'
import { bundle } from './build/bundle.ts'
import { buildDashboard } from './dashboard.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const declareTypes = (): number => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', 'tsconfig.build.json']
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1
}

const types = /\.d\.ts(?:\.map)?$/

const isCurrentType = (path: string): boolean => {
  const source = path.replace(types, '.ts')
  return types.test(path) && !source.endsWith('.test.ts') && existsSync(join(root, 'src', source))
}

const removeStale = (code: ReadonlySet<string>): void => {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const place = path.split(sep).join('/')
    if (!/\.(?:ts|js)(?:\.map)?$/.test(place) || place.startsWith('dashboard/')) continue
    if (!code.has(place) && !isCurrentType(place)) rmSync(join(dist, path), { force: true })
  }
}

const isCodeOnly = process.argv.includes('--code')
process.exitCode = isCodeOnly ? 0 : declareTypes()
if (process.exitCode === 0) {
  removeStale(await bundle(root))
  copyAssets(root)
  if (!isCodeOnly) await buildDashboard(root)
}
