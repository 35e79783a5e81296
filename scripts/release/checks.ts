// What must hold before a version is released; everything that does not is told at once.

export interface Candidate {
  readonly version: string
  /** Of package-lock.json, which has it twice. */
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
  if (tags.includes(`v${version}`)) {
    problems.push(`v${version} is released already: raise version in package.json`)
  }
  return [...problems, ...changelogProblems(changelog, version)]
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
