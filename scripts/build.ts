// Makes both packages from src: the code in bundles, SQL, Lua and types file by file, the dashboard, and
// the papers they share; then removes what is left of earlier builds. A dist is never emptied first, so a
// process that runs from it keeps its files. `--code` makes the code alone.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { copyAssets } from './build/assets.ts'
import { bundle } from './build/bundle.ts'
import { writeDeclarations } from './build/declarations.ts'
import { buildDashboard } from './dashboard.ts'
import { distOf, folderOf, packageNames, type PackageName } from './packages.ts'

type Paths = Readonly<Record<PackageName, ReadonlySet<string>>>

const root = fileURLToPath(new URL('..', import.meta.url))

/** Null when the code does not type-check. */
function buildTypes(): Paths | null {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-types-'))
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', folder]
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
    return status === 0 ? writeDeclarations(root, folder) : null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function removeStale(name: PackageName, isCurrent: (path: string) => boolean): void {
  const dist = join(root, distOf(name))
  for (const found of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const path = found.split(sep).join('/')
    if (!/\.(?:ts|js)(?:\.map)?$/.test(path) || path.startsWith('dashboard/')) continue
    if (!isCurrent(path)) rmSync(join(dist, path), { force: true })
  }
}

/** Each package has the licence and the changelog of both; the library has the README of the whole. */
function copyPapers(): void {
  for (const name of packageNames) {
    for (const paper of ['LICENSE', 'CHANGELOG.md']) {
      copyFileSync(join(root, paper), join(root, folderOf(name), paper))
    }
  }
  copyFileSync(join(root, 'README.md'), join(root, folderOf('carillon'), 'README.md'))
}

const isCodeOnly = process.argv.includes('--code')
const types = isCodeOnly ? null : buildTypes()
if (!isCodeOnly && types === null) process.exitCode = 1
else {
  const code = await bundle(root)
  for (const name of packageNames) {
    removeStale(name, path =>
      path.endsWith('.d.ts') ? isCodeOnly || types![name].has(path) : code[name].has(path),
    )
  }
  copyAssets(root)
  copyPapers()
  if (!isCodeOnly) await buildDashboard(root)
}
