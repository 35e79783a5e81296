// npx tsx scripts/release.ts [--dry-run] [--out release]: checks that a version can be released, packs both
// packages with their bills of materials and checksums, and says how to publish them. It publishes nothing.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { distOf, folderOf, packageNames, type PackageName } from './packages.ts'
import { releaseProblems, type Candidate, type Manifest } from './release/checks.ts'
import { bundledIn, shippedBom } from './release/sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const NOTICES = ['THIRD-PARTY.txt', 'dashboard/THIRD-PARTY.txt']
const LISTED_MAX = 64 * 1024 * 1024

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    out: { type: 'string', default: 'release' },
  },
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function output(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: LISTED_MAX })
}

const lines = (text: string) => text.split('\n').filter(line => line !== '')

function candidate(version: string): Candidate {
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly version: string
    readonly packages: Readonly<Record<string, { readonly version?: string }>>
  }
  const lockedAt = ['', ...packageNames.map(folderOf)]
  return {
    version,
    manifests: packageNames.map(name => {
      const path = `${folderOf(name)}/package.json`
      return { path, manifest: JSON.parse(read(path)) as Manifest }
    }),
    lockVersions: [lock.version, ...lockedAt.map(path => lock.packages[path]?.version ?? '')],
    changelog: read('CHANGELOG.md'),
    changedFiles: lines(output('git', ['status', '--porcelain'])),
    tags: lines(output('git', ['tag', '--list', 'v*'])),
  }
}

/** The tarball, as npm would publish it. */
function pack(name: PackageName, folder: string): string {
  const place = ['--workspace', name, `--pack-destination=${folder}`]
  // Both are built before: npm would build once for each.
  const report = output('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', ...place])
  const [{ filename }] = JSON.parse(report.slice(report.indexOf('['))) as [{ filename: string }]
  return join(folder, filename)
}

/** From the lock file alone: nothing is asked of a registry. */
function writeBom(name: PackageName, version: string, folder: string): string {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--offline']
  const listed = output('npm', [...args, '--loglevel=error'])
  const notices = NOTICES.map(path => `${distOf(name)}/${path}`)
    .filter(path => existsSync(join(root, path)))
    .map(read)
  const bom = shippedBom(listed, name, bundledIn(notices))
  const path = join(folder, `${name}-${version}.cdx.json`)
  writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`)
  return path
}

function writeSums(files: readonly string[], folder: string): string {
  const sums = files.map(file => {
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex')
    return `${hash}  ${basename(file)}\n`
  })
  const path = join(folder, 'SHA256SUMS')
  writeFileSync(path, sums.join(''))
  return path
}

function release(): number {
  const { version } = JSON.parse(read('package.json')) as Manifest
  const isDry = values['dry-run']
  const problems = releaseProblems(candidate(version))
  for (const problem of problems) console.error(`release: ${problem}`)
  if (problems.length > 0) return 1
  if (isDry) console.log('would run bash .ci/run')
  else execFileSync('bash', ['.ci/run'], { cwd: root, stdio: 'inherit' })
  const folder = join(root, values.out)
  mkdirSync(folder, { recursive: true })
  output('npm', ['run', '--silent', 'build'])
  const tarballs = packageNames.map(name => pack(name, folder))
  const boms = packageNames.map(name => writeBom(name, version, folder))
  const sums = writeSums([...tarballs, ...boms], folder)
  console.log(`${packageNames.join(' and ')} ${version} are in ${values.out}:`)
  for (const file of [...tarballs, ...boms, sums]) console.log(`  ${basename(file)}`)
  console.log(isDry ? 'To release it, run this without --dry-run.' : 'To publish it, from CI:')
  if (!isDry) {
    console.log(`  git tag v${version} && git push origin v${version}`)
    for (const tarball of tarballs) {
      console.log(`  npm publish ${values.out}/${basename(tarball)} --provenance --access public`)
    }
  }
  return 0
}

process.exitCode = release()
