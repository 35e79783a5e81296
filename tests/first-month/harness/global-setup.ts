// Packs the package once for the whole suite and installs it in an empty project, as a user would
// have it. CARILLON_TARBALL names another tarball: that of an older commit, to see a test fail on it.

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packPackage, root } from '../../packaging/package.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { PROJECT_VARIABLE } from './project.ts'

/** What users install beside Carillon: drivers, and the schema library of the examples. */
const COMPANIONS = ['pg', '@redis/client', 'zod']

function link(project: string, name: string): void {
  const path = join(project, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), path, 'junction')
}

export default async function setup(): Promise<() => Promise<void>> {
  const { folder, remove } = await scratch('first-month')
  const tarball = process.env['CARILLON_TARBALL'] || packPackage(folder).tarball
  const project = join(folder, 'project')
  const installed = join(project, 'node_modules/carillon')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  const manifest = JSON.parse(
    execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
  ) as { dependencies: Readonly<Record<string, string>> }
  for (const name of new Set([...Object.keys(manifest.dependencies), ...COMPANIONS])) {
    link(project, name)
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }\n')
  process.env[PROJECT_VARIABLE] = project
  return remove
}
