// Packs both packages as npm would publish them and sets them up in an empty project.
// Dependencies are linked from this checkout, so nothing is downloaded.

import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderOf, packageNames, type PackageName } from '../../scripts/packages.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface PackedPackage {
  readonly manifest: Manifest
  /** Paths inside the tarball. */
  readonly files: readonly string[]
  readonly tarball: string
}

export type PackedPackages = Readonly<Record<PackageName, PackedPackage>>

export const manifestOf = (name: PackageName): Manifest =>
  JSON.parse(fs.readFileSync(join(root, folderOf(name), 'package.json'), 'utf8')) as Manifest

const isWindows = process.platform === 'win32'

/** Builds both and packs them into the folder. */
export function packPackages(folder: string): PackedPackages {
  const npm = (...args: string[]) =>
    execFileSync('npm', args, { cwd: root, encoding: 'utf8', shell: isWindows })
  npm('run', '--silent', 'build')
  const pack = (name: PackageName): PackedPackage => {
    const place = ['--workspace', name, `--pack-destination=${folder}`]
    // What prepack does is done already.
    const output = npm('pack', '--json', '--ignore-scripts', '--loglevel=error', ...place)
    const [report] = JSON.parse(output.slice(output.indexOf('['))) as [
      { filename: string; files: { path: string }[] },
    ]
    return {
      manifest: manifestOf(name),
      files: report.files.map(({ path }) => path),
      tarball: join(folder, report.filename),
    }
  }
  return { carillon: pack('carillon'), 'carillon-service': pack('carillon-service') }
}

function link(project: string, name: string): void {
  const place = join(project, 'node_modules', name)
  if (fs.existsSync(place)) return
  fs.mkdirSync(dirname(place), { recursive: true })
  fs.symlinkSync(join(root, 'node_modules', name), place, 'junction')
}

/** Sets up a project that sees what the tarballs hold, what they depend on, and `more`; nothing else. */
export function installTarballs(
  project: string,
  tarballs: readonly string[],
  more: readonly string[] = [],
): void {
  const names = new Set(more)
  for (const tarball of tarballs) {
    const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'])
    const { name, dependencies = {} } = JSON.parse(text.toString()) as Manifest
    const installed = join(project, 'node_modules', name)
    fs.mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    for (const dependency of Object.keys(dependencies)) names.add(dependency)
  }
  for (const name of names) link(project, name)
  fs.writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }\n')
}

export interface Projects {
  readonly packed: PackedPackages
  /** Of a user of the service, who installs both packages. */
  readonly both: string
  /** Of a user of the library, who installs the first alone. */
  readonly library: string
  readonly remove: () => void
}

/** Builds, packs and installs. */
export function packAndInstall(): Projects {
  const folder = fs.mkdtempSync(join(tmpdir(), 'carillon-pack-'))
  const packed = packPackages(folder)
  const [both, library] = [join(folder, 'both'), join(folder, 'library')]
  const tarballs = packageNames.map(name => packed[name].tarball)
  installTarballs(both, tarballs, ['@types/node'])
  installTarballs(library, [packed.carillon.tarball], ['@types/node'])
  return {
    packed,
    both,
    library,
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

export interface Entry {
  /** What a user imports: `carillon`, `carillon/cron`. */
  readonly specifier: string
  readonly owner: PackageName
  readonly targets: readonly string[]
}

/** The entries of the exports maps; patterns are for the packages themselves. */
export const entries = (owner: PackageName): Entry[] =>
  Object.entries(manifestOf(owner).exports)
    .filter(([key]) => !key.includes('*') && key !== './package.json')
    .map(([key, target]) => ({
      specifier: owner + key.slice(1),
      owner,
      targets: typeof target === 'string' ? [target] : Object.values(target),
    }))
