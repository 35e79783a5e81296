// The bill of materials of a package: what it depends on, and what its own files contain.

import type { PackageName } from '../packages.ts'

interface Property {
  readonly name: string
  readonly value: string
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly properties?: readonly Property[]
  readonly externalReferences?: readonly { readonly type: string }[]
}

interface Dependency {
  readonly ref: string
  readonly dependsOn?: readonly string[]
}

interface Bom {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly Dependency[]
}

const DEVELOPMENT = 'cdx:npm:package:development'
const BUNDLED = { name: 'cdx:npm:package:bundled', value: 'true' }

/** `name version` at the head of each notice, as the build writes them. */
export function bundledIn(notices: readonly string[]): Set<string> {
  const heads = notices.flatMap(
    text => text.match(/^(?:@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S*$/gm) ?? [],
  )
  return new Set(heads.map(head => head.replace(' ', '@')))
}

/** Of everything npm lists: what users of the package get, by installing it or inside of its files. */
export function shippedBom(listed: string, name: PackageName, bundled: ReadonlySet<string>): Bom {
  const bom = JSON.parse(listed) as Bom
  const own = bom.components.find(component => component.name === name)
  if (own === undefined) throw new Error(`npm does not list ${name}`)
  const installed = installedWith(bom, own)
  const missing = new Set(bundled)
  const components = bom.components.flatMap(component => {
    const isInside = bundled.has(`${component.name}@${component.version}`)
    missing.delete(`${component.name}@${component.version}`)
    if (!isInside && !installed.has(component['bom-ref'])) return []
    const kept = (component.properties ?? []).filter(one => one.name !== DEVELOPMENT)
    return [{ ...withoutPlaces(component), properties: isInside ? [...kept, BUNDLED] : kept }]
  })
  if (missing.size > 0) throw new Error(`npm does not list ${[...missing].join(', ')}`)
  const refs = new Set([own['bom-ref'], ...components.map(one => one['bom-ref'])])
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(one => refs.has(one)) }))
  return {
    ...bom,
    metadata: { ...bom.metadata, component: withoutPlaces(own) },
    components,
    dependencies,
  }
}

/** What it depends on, and so on; the library may do with the service, and does without. */
function installedWith({ components, dependencies }: Bom, own: Component): ReadonlySet<string> {
  const isOptional = ({ name, properties = [] }: Component) =>
    properties.some(one => one.name === DEVELOPMENT) ||
    (own.name === 'carillon' && name === 'carillon-service')
  const left = new Set(components.filter(one => !isOptional(one)).map(one => one['bom-ref']))
  left.delete(own['bom-ref'])
  const found = new Set<string>()
  const gather = (ref: string): void => {
    for (const next of dependencies.find(one => one.ref === ref)?.dependsOn ?? []) {
      if (!left.delete(next)) continue
      found.add(next)
      gather(next)
    }
  }
  gather(own['bom-ref'])
  return found
}

/** Where something was fetched from says where this was built, not where it is found. */
function withoutPlaces(component: Component): Component {
  const { externalReferences = [] } = component
  return {
    ...component,
    externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
  }
}
