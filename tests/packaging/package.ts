// Packs this repository as npm would publish it and sets it up in an empty project.
// Dependencies are linked from this checkout, so nothing is downloaded.

import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface Packed {
  /** Paths inside the tarball. */
  readonly files: readonly string[]
  readonly tarball: string
  /** An empty project in which the package is installed. */
  readonly project: string
  readonly remove: () => void
}

export const manifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

const isWindows = process.platform === 'win32'

/** Builds and packs into the folder. */
export const packPackage = (folder: string): { files: string[]; tarball: string } => {
  const args = ['pack', '--json', '--loglevel=error', `--pack-destination=${folder}`]
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', shell: isWindows })
  const [report] = JSON.parse(output.slice(output.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ]
  return { files: report.files.map(({ path }) => path), tarball: join(folder, report.filename) }
}

const link = (project: string, name: string): void => {
  const place = join(project, 'node_modules', name)
  fs.mkdirSync(dirname(place), { recursive: true })
  fs.symlinkSync(join(root, 'node_modules', name), place, 'junction')
}

/** Builds and packs; the project sees the declared dependencies and no others. */
export const packAndInstall = (): Packed => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'carillon-pack-'))
  const { files, tarball } = packPackage(folder)
  const project = join(folder, 'project')
  const installed = join(project, 'node_modules', manifest.name)
  fs.mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  for (const name of [...Object.keys(manifest.dependencies ?? {}), '@types/node']) {
    link(project, name)
  }
  fs.writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }\n')
  return {
    files,
    tarball,
    project,
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

export interface Entry {
  /** What a user imports: `carillon`, `carillon/cron`. */
  readonly specifier: string
  readonly targets: readonly string[]
}

const hasSource = (target: string): boolean =>
  fs.existsSync(
    join(root, target.replace(/^\.\/dist\//, 'src/').replace(/(?:\.d\.ts|\.js)$/, '.ts')),
  )

/** The entries of the exports map that src has a file for. */
export const entries = (): Entry[] =>
  Object.entries(manifest.exports)
    .map(([key, target]) => ({
      specifier: manifest.name + key.slice(1),
      targets: typeof target === 'string' ? [target] : Object.values(target),
    }))
    .filter(({ targets }) =>
      targets.every(target => target.endsWith('ts') || target.endsWith('js')),
    )
    .filter(({ targets }) => targets.every(hasSource))
