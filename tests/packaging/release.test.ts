// S7: the release script, as a maintainer runs it, in a copy of this repository. It publishes nothing.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { distOf, folderOf, packageNames, type PackageName } from '../../scripts/packages.ts'
import { root } from './package.ts'

const VERSION = '7.7.7'
let copy: string

beforeAll(() => {
  copy = fs.mkdtempSync(join(tmpdir(), 'carillon-release-'))
  for (const path of git(root, ['ls-files', '-co', '--exclude-standard']).split('\n')) {
    if (path === '' || !fs.existsSync(join(root, path))) continue
    fs.mkdirSync(dirname(join(copy, path)), { recursive: true })
    fs.copyFileSync(join(root, path), join(copy, path))
  }
  fs.symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
  // The suite before has built them: the copy packs the same files without building them again.
  if (!fs.existsSync(join(root, distOf('carillon'), 'THIRD-PARTY.txt'))) {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root })
  }
  for (const name of packageNames) {
    fs.cpSync(join(root, folderOf(name)), join(copy, folderOf(name)), { recursive: true })
  }
  fs.appendFileSync(join(copy, '.gitignore'), '\nnode_modules\n')
  const older = new RegExp(`"(version|${packageNames.join('|')})": "\\d[^"]*"`, 'g')
  for (const folder of ['.', ...packageNames.map(folderOf)]) {
    change(join(folder, 'package.json'), text =>
      text
        .replace(older, `"$1": "${VERSION}"`)
        .replace('"build": "tsx scripts/build.ts"', '"build": "node --version"'),
    )
  }
  git(copy, ['init', '--quiet'])
  git(copy, ['config', 'user.name', 'test'])
  git(copy, ['config', 'user.email', 'test@example.com'])
})

afterAll(() => {
  fs.rmSync(copy, { recursive: true, force: true })
})

const read = (path: string): string => fs.readFileSync(join(copy, path), 'utf8')

function dependenciesOf(name: PackageName): string[] {
  const manifest = JSON.parse(read(`${folderOf(name)}/package.json`)) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.keys(manifest.dependencies)
}

/** What the bill of materials of a package lists. */
function partsOf(name: PackageName): string[] {
  const bom = JSON.parse(read(`release/${name}-${VERSION}.cdx.json`)) as {
    readonly bomFormat: string
    readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
    readonly components: readonly { readonly name: string; readonly purl: string }[]
  }
  expect(bom.bomFormat).toBe('CycloneDX')
  expect(bom.metadata.component).toMatchObject({ name, version: VERSION })
  expect(bom.components.every(({ purl }) => purl.startsWith('pkg:npm/'))).toBe(true)
  return bom.components.map(part => part.name)
}

function git(cwd: string, args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}

function change(path: string, edit: (text: string) => string): void {
  fs.writeFileSync(join(copy, path), edit(fs.readFileSync(join(copy, path), 'utf8')))
}

function release() {
  const args = ['node_modules/tsx/dist/cli.mjs', 'scripts/release.ts', '--dry-run']
  return spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
}

/** What this machine fetches packages from, unless everybody does. */
function registryHosts(): string[] {
  const asked = execFileSync('npm', ['config', 'get', 'registry', '--loglevel=error'], {
    cwd: root,
  })
  return [new URL(asked.toString().trim()).host]
}

test('S7: a version that is not ready is refused with everything that is missing', () => {
  const { status, stderr } = release()
  expect(status).toBe(1)
  expect(stderr).toContain('release: commit or remove what is changed: ')
  expect(stderr).toContain(`release: package-lock.json: version must be ${VERSION}`)
  expect(stderr).toContain(`release: CHANGELOG.md: has no section ## [${VERSION}] - <date>`)
  expect(fs.existsSync(join(copy, 'release'))).toBe(false)
})

test('S7: a ready version is packed with its bill of materials and checksums', () => {
  change('package-lock.json', text => {
    const lock = JSON.parse(text) as {
      version: string
      packages: Record<string, { version: string; peerDependencies?: Record<string, string> }>
    }
    lock.version = VERSION
    for (const path of ['', ...packageNames.map(folderOf)]) {
      const entry = lock.packages[path]!
      entry.version = VERSION
      for (const name of packageNames) {
        if (entry.peerDependencies?.[name]) entry.peerDependencies[name] = VERSION
      }
    }
    return `${JSON.stringify(lock, null, 2)}\n`
  })
  change('CHANGELOG.md', text =>
    text.replace(/^## \[Unreleased\]$/m, `## [Unreleased]\n\n## [${VERSION}] - 2026-01-31`),
  )
  git(copy, ['add', '--all'])
  git(copy, ['commit', '--quiet', '--no-verify', '--message', 'release'])
  const { status, stdout, stderr } = release()
  expect({ status, stderr: stderr.replace(/^npm warn .*\n/gm, '') }).toEqual({
    status: 0,
    stderr: '',
  })
  expect(stdout).toContain('would run bash .ci/run')

  const folder = join(copy, 'release')
  const names = packageNames.flatMap(name => [
    `${name}-${VERSION}.cdx.json`,
    `${name}-${VERSION}.tgz`,
  ])
  expect(fs.readdirSync(folder).sort()).toEqual(['SHA256SUMS', ...names].sort())
  const sums = fs.readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  for (const name of names) {
    const hash = createHash('sha256')
      .update(fs.readFileSync(join(folder, name)))
      .digest('hex')
    expect(sums).toContain(`${hash}  ${name}\n`)
  }

  // What users install, what is inside of our files, and nothing that only builds them.
  const library = partsOf('carillon')
  expect(library).toEqual(expect.arrayContaining(dependenciesOf('carillon')))
  expect(library).not.toEqual(expect.arrayContaining(['fastify']))
  expect(library).not.toContain('carillon-service')
  const service = partsOf('carillon-service')
  const expected = [...dependenciesOf('carillon-service'), 'carillon', 'preact', 'commander']
  expect(service).toEqual(expect.arrayContaining(expected))
  for (const parts of [library, service]) expect(parts).not.toContain('typescript')
  const boms = packageNames.map(name => read(`release/${name}-${VERSION}.cdx.json`)).join('')
  for (const host of registryHosts()) expect(stdout + stderr + boms + sums).not.toContain(host)
  expect(git(copy, ['status', '--porcelain'])).toBe('')
})
