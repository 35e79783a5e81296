// npx tsx scripts/release.ts [--dry-run] [--out release]: checks that a version can be released,
// packs it with its bill of materials and checksums, and says how to publish it. It publishes nothing.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { releaseProblems } from './release/checks.ts'
import { bundledIn, shippedBom } from './release/sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const NOTICES = ['dist/THIRD-PARTY.txt', 'dist/dashboard/THIRD-PARTY.txt']
const LISTED_MAX = 64 * 1024 * 1024

interface Manifest {
  readonly name: string
  readonly version: string
  readonly repository?: unknown
}

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

function candidate({ version }: Manifest) {
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly version: string
    readonly packages: Readonly<Record<string, { readonly version?: string }>>
  }
  return {
    version,
    lockVersions: [lock.version, lock.packages['']?.version ?? ''],
    changelog: read('CHANGELOG.md'),
    changedFiles: lines(output('git', ['status', '--porcelain'])),
    tags: lines(output('git', ['tag', '--list', 'v*'])),
  }
}

/** The tarball, as npm would publish it. */
function pack(folder: string): string {
  const args = ['pack', '--json', '--loglevel=error', `--pack-destination=${folder}`]
  const report = output('npm', args)
  const [{ filename }] = JSON.parse(report.slice(report.indexOf('['))) as [{ filename: string }]
  return join(folder, filename)
}

/** From the lock file alone: nothing is asked of a registry. */
function writeBom({ name, version }: Manifest, folder: string): string {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--offline']
  const listed = output('npm', [...args, '--loglevel=error'])
  const notices = NOTICES.filter(path => existsSync(join(root, path))).map(read)
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
  const manifest = JSON.parse(read('package.json')) as Manifest
  const { name, version } = manifest
  const isDry = values['dry-run']
  const problems = releaseProblems(candidate(manifest))
  for (const problem of problems) console.error(`release: ${problem}`)
  if (problems.length > 0) return 1
  if (isDry) console.log('would run bash .ci/run')
  else execFileSync('bash', ['.ci/run'], { cwd: root, stdio: 'inherit' })
  const folder = join(root, values.out)
  mkdirSync(folder, { recursive: true })
  const tarball = pack(folder)
  const bom = writeBom(manifest, folder)
  const sums = writeSums([tarball, bom], folder)
  console.log(`${name} ${version} is in ${values.out}:`)
  for (const file of [tarball, bom, sums]) console.log(`  ${basename(file)}`)
  if (manifest.repository === undefined) {
    console.log(
      'package.json names no repository, which provenance is checked against: add it first',
    )
  }
  console.log(isDry ? 'To release it, run this without --dry-run.' : 'To publish it, from CI:')
  if (!isDry) {
    console.log(`  git tag v${version} && git push origin v${version}`)
    console.log(`  npm publish ${values.out}/${basename(tarball)} --provenance --access public`)
  }
  return 0
}

process.exitCode = release()
