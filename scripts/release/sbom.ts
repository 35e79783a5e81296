// The bill of materials of the package: what it depends on, and what its own files contain.

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

/** Of everything npm lists: what users get, by installing it or inside of our files. */
export function shippedBom(listed: string, name: string, bundled: ReadonlySet<string>): Bom {
  const bom = JSON.parse(listed) as Bom
  const missing = new Set(bundled)
  const components = bom.components.flatMap(component => {
    const isInside = bundled.has(`${component.name}@${component.version}`)
    missing.delete(`${component.name}@${component.version}`)
    const { properties = [] } = component
    const isShipped = isInside || !properties.some(one => one.name === DEVELOPMENT)
    if (!isShipped) return []
    const kept = properties.filter(one => one.name !== DEVELOPMENT)
    return [{ ...withoutPlaces(component), properties: isInside ? [...kept, BUNDLED] : kept }]
  })
  if (missing.size > 0) throw new Error(`npm does not list ${[...missing].join(', ')}`)
  const { component } = bom.metadata
  const refs = new Set([component['bom-ref'], ...components.map(one => one['bom-ref'])])
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(one => refs.has(one)) }))
  const root = { ...withoutPlaces(component), name }
  return { ...bom, metadata: { ...bom.metadata, component: root }, components, dependencies }
}

/** Where something was fetched from says where this was built, not where it is found. */
function withoutPlaces(component: Component): Component {
  const { externalReferences = [] } = component
  return {
    ...component,
    externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
  }
}
