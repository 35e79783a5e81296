// S7: the release script, as a maintainer runs it, in a copy of this repository. It publishes nothing.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  // The suite before has built it: the copy packs the same files without building them again.
  const built = join(root, 'dist')
  if (!fs.existsSync(join(built, 'THIRD-PARTY.txt'))) {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root })
  }
  fs.cpSync(built, join(copy, 'dist'), { recursive: true })
  fs.appendFileSync(join(copy, '.gitignore'), '\nnode_modules\n')
  change('package.json', text =>
    text
      .replace(/"version": "[^"]+"/, `"version": "${VERSION}"`)
      .replace(/,\s*"prepack": "[^"]+"/, ''),
  )
  git(copy, ['init', '--quiet'])
  git(copy, ['config', 'user.name', 'test'])
  git(copy, ['config', 'user.email', 'test@example.com'])
})

afterAll(() => {
  fs.rmSync(copy, { recursive: true, force: true })
})

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
    const lock = JSON.parse(text) as { version: string; packages: { '': { version: string } } }
    lock.version = VERSION
    lock.packages[''].version = VERSION
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
  const names = [`carillon-${VERSION}.cdx.json`, `carillon-${VERSION}.tgz`]
  expect(fs.readdirSync(folder).sort()).toEqual(['SHA256SUMS', ...names])
  const sums = fs.readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  for (const name of names) {
    const hash = createHash('sha256')
      .update(fs.readFileSync(join(folder, name)))
      .digest('hex')
    expect(sums).toContain(`${hash}  ${name}\n`)
  }

  const text = fs.readFileSync(join(folder, names[0]!), 'utf8')
  const bom = JSON.parse(text) as {
    readonly bomFormat: string
    readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
    readonly components: readonly { readonly name: string; readonly purl: string }[]
  }
  expect(bom.bomFormat).toBe('CycloneDX')
  expect(bom.metadata.component).toMatchObject({ name: 'carillon', version: VERSION })
  const parts = bom.components.map(({ name }) => name)
  const { dependencies } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  // What users install, what is inside of our files, and nothing that only builds them.
  expect(parts).toEqual(
    expect.arrayContaining([...Object.keys(dependencies), 'preact', 'commander']),
  )
  expect(parts).not.toContain('typescript')
  expect(bom.components.every(({ purl }) => purl.startsWith('pkg:npm/'))).toBe(true)
  for (const host of registryHosts()) expect(stdout + stderr + text + sums).not.toContain(host)
  expect(git(copy, ['status', '--porcelain'])).toBe('')
})
