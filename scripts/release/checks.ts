// What must hold before a version is released; everything that does not is told at once.

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Candidate {
  /** Of package.json at the root; both packages have the same. */
  readonly version: string
  readonly manifests: readonly { readonly path: string; readonly manifest: Manifest }[]
  /** Of package-lock.json, which has it for itself, the root and each package. */
  readonly lockVersions: readonly string[]
  readonly changelog: string
  /** As `git status --porcelain` lists them. */
  readonly changedFiles: readonly string[]
  readonly tags: readonly string[]
}

const plainVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/
const SHOWN_MAX = 5

export function releaseProblems(candidate: Candidate): string[] {
  const { version, lockVersions, changelog, changedFiles, tags } = candidate
  const problems: string[] = []
  if (changedFiles.length > 0) {
    const shown = changedFiles.slice(0, SHOWN_MAX).map(line => line.trim())
    const more = changedFiles.length > SHOWN_MAX ? ', …' : ''
    problems.push(`commit or remove what is changed: ${shown.join(', ')}${more}`)
  }
  if (!plainVersion.test(version)) {
    problems.push(`package.json: version must be like 1.2.3 (got ${JSON.stringify(version)})`)
  }
  const other = lockVersions.find(found => found !== version)
  if (other !== undefined) {
    problems.push(`package-lock.json: version must be ${version} (got ${other}): npm install`)
  }
  problems.push(...manifestProblems(candidate))
  if (tags.includes(`v${version}`)) {
    problems.push(`v${version} is released already: raise version in package.json`)
  }
  return [...problems, ...changelogProblems(changelog, version)]
}

/** A service and a library of different versions never run together. */
function manifestProblems({ version, manifests }: Candidate): string[] {
  const names = manifests.map(({ manifest }) => manifest.name)
  return manifests.flatMap(({ path, manifest }) => {
    const peers = Object.entries(manifest.peerDependencies ?? {})
      .filter(([name]) => names.includes(name))
      .map(([name, range]) => [`peerDependencies.${name}`, range] as const)
    return [['version', manifest.version] as const, ...peers]
      .filter(([, found]) => found !== version)
      .map(([field, found]) => `${path}: ${field} must be ${version} (got ${found})`)
  })
}

function changelogProblems(changelog: string, version: string): string[] {
  const problems: string[] = []
  const heading = changelog.split('\n').find(line => line.startsWith(`## [${version}]`))
  if (heading === undefined) {
    problems.push(`CHANGELOG.md: has no section ## [${version}] - <date>`)
  } else if (!/^## \[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading)) {
    problems.push(`CHANGELOG.md: ## [${version}] must be followed by its date, as - 2026-01-31`)
  } else if (textUnder(changelog, heading) === '') {
    problems.push(`CHANGELOG.md: nothing is written under ## [${version}]`)
  }
  if (textUnder(changelog, '## [Unreleased]') !== '') {
    problems.push(`CHANGELOG.md: move what is under ## [Unreleased] to ## [${version}]`)
  }
  return problems
}

/** Up to the next section; empty when there is none of this heading. */
function textUnder(changelog: string, heading: string): string {
  const [, rest = ''] = `\n${changelog}`.split(`\n${heading}\n`)
  return rest.split(/^## /m)[0]!.trim()
}
