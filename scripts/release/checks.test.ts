// What keeps a version from being released, and what a bill of materials holds.

import { describe, expect, it } from 'vitest'
import { releaseProblems, type Candidate } from './checks.ts'
import { bundledIn, shippedBom } from './sbom.ts'

const manifest = (name: string, peer: string, version = '1.2.3') => ({
  path: `packages/${name}/package.json`,
  manifest: { name, version: '1.2.3', peerDependencies: { pg: '^8', [peer]: version } },
})

const ready: Candidate = {
  version: '1.2.3',
  manifests: [manifest('library', 'service'), manifest('service', 'library')],
  lockVersions: ['1.2.3', '1.2.3'],
  changelog: '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-02-01\n\n- more\n\n## [1.2.2]\n',
  changedFiles: [],
  tags: ['v1.2.2'],
}

describe('S7 a release', () => {
  it('that is ready has no problems', () => {
    expect(releaseProblems(ready)).toEqual([])
  })

  it.each<[Partial<Candidate>, RegExp]>([
    [
      { changedFiles: [' M src/index.ts', '?? x'] },
      /^commit or remove .*: M src\/index.ts, \?\? x$/,
    ],
    [{ version: 'next' }, /version must be like 1\.2\.3/],
    [
      { lockVersions: ['1.2.2', '1.2.3'] },
      /package-lock.json: version must be 1.2.3 \(got 1.2.2\)/,
    ],
    [
      { manifests: [manifest('library', 'service', '1.2.2'), manifest('service', 'library')] },
      /packages\/library\/package.json: peerDependencies.service must be 1.2.3 \(got 1.2.2\)/,
    ],
    [{ tags: ['v1.2.3'] }, /v1.2.3 is released already/],
    [{ changelog: '## [Unreleased]\n' }, /has no section ## \[1.2.3\]/],
    [{ changelog: '## [1.2.3]\n\n- more\n' }, /must be followed by its date/],
    [{ changelog: '## [1.2.3] - 2026-02-01\n\n## [1.2.2]\n' }, /nothing is written under/],
    [{ changelog: `## [Unreleased]\n\n- x\n\n${ready.changelog}` }, /move what is under/],
  ])('with %j is refused', (more, rule) => {
    expect(releaseProblems({ ...ready, ...more }).join('\n')).toMatch(rule)
  })

  it('tells every problem at once', () => {
    const all = { ...ready, changedFiles: ['?? x'], lockVersions: ['1'], tags: ['v1.2.3'] }
    expect(releaseProblems({ ...all, changelog: '' })).toHaveLength(4)
  })
})

describe('S7 the bill of materials', () => {
  const part = (name: string, isDevelopment: boolean) => ({
    'bom-ref': `${name}@1.0.0`,
    name,
    version: '1.0.0',
    externalReferences: [
      { type: 'distribution', url: 'https://mirror.invalid/x.tgz' },
      { type: 'website', url: 'https://example.com' },
    ],
    properties: isDevelopment ? [{ name: 'cdx:npm:package:development', value: 'true' }] : [],
  })
  const library = part('carillon', false)
  const service = part('carillon-service', false)
  const listed = JSON.stringify({
    metadata: { component: part('checkout', false) },
    components: [
      library,
      service,
      part('used', false),
      part('below', false),
      part('server', false),
      part('@in/side', true),
      part('tool', true),
    ],
    dependencies: [
      { ref: 'checkout@1.0.0', dependsOn: [library['bom-ref'], service['bom-ref'], 'tool@1.0.0'] },
      { ref: library['bom-ref'], dependsOn: ['used@1.0.0', 'tool@1.0.0', service['bom-ref']] },
      { ref: service['bom-ref'], dependsOn: ['server@1.0.0', library['bom-ref']] },
      { ref: 'used@1.0.0', dependsOn: ['below@1.0.0'] },
      { ref: 'tool@1.0.0', dependsOn: [] },
    ],
  })

  it('holds what is installed and what is inside, and no place it was fetched from', () => {
    const inside = bundledIn(['@in/side 1.0.0\n\nPermission is hereby granted 2.0.0\n'])
    const bom = shippedBom(listed, 'carillon', inside)
    expect(bom.metadata.component.name).toBe('carillon')
    expect(bom.components.map(({ name }) => name)).toEqual(['used', 'below', '@in/side'])
    expect(bom.components[2]!.properties).toEqual([
      { name: 'cdx:npm:package:bundled', value: 'true' },
    ])
    expect(bom.dependencies).toEqual([
      { ref: 'carillon@1.0.0', dependsOn: ['used@1.0.0'] },
      { ref: 'used@1.0.0', dependsOn: ['below@1.0.0'] },
    ])
    expect(JSON.stringify(bom)).not.toContain('mirror')
    expect(JSON.stringify(bom)).toContain('https://example.com')
  })

  it('of the service holds the library, which it needs', () => {
    const bom = shippedBom(listed, 'carillon-service', new Set())
    expect(bom.metadata.component.name).toBe('carillon-service')
    expect(bom.components.map(({ name }) => name)).toEqual(['carillon', 'used', 'below', 'server'])
  })

  it('is refused when something is inside that npm does not list', () => {
    const inside = new Set(['ghost@1.0.0'])
    expect(() => shippedBom(listed, 'carillon', inside)).toThrow('npm does not list ghost@1.0.0')
  })
})
