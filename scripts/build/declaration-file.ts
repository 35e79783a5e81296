// One declaration file as tsc writes it: its statements, what each declares and names, its imports and
// exports.

import { posix } from 'node:path'
import { parseSync } from 'vite'
import { packagesInside } from './inside.ts'

/** A name of another module; `*` is the whole of it. */
export interface ImportedName {
  readonly specifier: string
  readonly name: string
}

/** What an exported name stands for; a class may be exported as a type alone. */
export type Exported = (ImportedName | { readonly local: string }) & { readonly isType: boolean }

export interface Statement {
  readonly text: string
  /** Identifiers in it, among them those it declares itself. */
  readonly names: ReadonlySet<string>
  /** `import('./job.js').Job` inside of a type. */
  readonly inlineImports: readonly ImportedName[]
}

export interface DeclarationFile {
  readonly path: string
  readonly statements: readonly Statement[]
  /** Local name → the statements that declare it: overloads and merged declarations are several. */
  readonly declared: ReadonlyMap<string, readonly Statement[]>
  readonly imported: ReadonlyMap<string, ImportedName>
  /** Exported name → what it stands for. */
  readonly exported: ReadonlyMap<string, Exported>
  /** Modules of which it exports everything. */
  readonly stars: readonly string[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

const textOf = (node: unknown): string => {
  const { name, value } = node as { readonly name?: string; readonly value?: unknown }
  return name ?? String(value)
}

/** Fields that hold a name of something else than what is in scope. */
const memberFields: ReadonlySet<string> = new Set(['key', 'right', 'label', 'property'])

export function readDeclarations(path: string, text: string): DeclarationFile {
  const { program, errors } = parseSync(path, text, { lang: 'dts', sourceType: 'module' })
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`)
  const reader = new Reader(path, text)
  for (const node of (program as unknown as { body: readonly Node[] }).body) reader.read(node)
  return reader.file
}

class Reader {
  readonly #text: string
  readonly #statements: Statement[] = []
  readonly #declared = new Map<string, Statement[]>()
  readonly #imported = new Map<string, ImportedName>()
  readonly #exported = new Map<string, Exported>()
  readonly #stars: string[] = []
  readonly file: DeclarationFile
  /** Comments before a statement are its own. */
  #end = 0

  constructor(path: string, text: string) {
    this.#text = text
    this.file = {
      path,
      statements: this.#statements,
      declared: this.#declared,
      imported: this.#imported,
      exported: this.#exported,
      stars: this.#stars,
    }
  }

  read(node: Node): void {
    const text = this.#text.slice(this.#end, node.end).trim()
    this.#end = node.end
    if (node.type === 'ImportDeclaration') this.#readImport(node)
    else if (node.type === 'ExportAllDeclaration') this.#readStar(node)
    else if (node.type === 'ExportNamedDeclaration') this.#readExport(node, text)
    else if (node.type === 'ExportDefaultDeclaration') {
      this.#declare(node, text, ['default'])
      this.#exported.set('default', { local: 'default', isType: false })
    } else this.#declare(node, text)
  }

  #readImport(node: Node): void {
    const specifier = textOf(node['source'])
    for (const one of (node['specifiers'] ?? []) as readonly Node[]) {
      const name =
        one.type === 'ImportNamespaceSpecifier'
          ? '*'
          : one.type === 'ImportDefaultSpecifier'
            ? 'default'
            : textOf(one['imported'])
      this.#imported.set(textOf(one['local']), { specifier, name })
    }
  }

  #readStar(node: Node): void {
    const specifier = textOf(node['source'])
    if (isNode(node['exported'])) {
      this.#exported.set(textOf(node['exported']), { specifier, name: '*', isType: false })
    } else this.#stars.push(specifier)
  }

  #readExport(node: Node, text: string): void {
    if (isNode(node['declaration'])) {
      for (const name of this.#declare(node['declaration'], text)) {
        this.#exported.set(name, { local: name, isType: false })
      }
    }
    for (const one of (node['specifiers'] ?? []) as readonly Node[]) {
      const local = textOf(one['local'])
      const isType = [node['exportKind'], one['exportKind']].includes('type')
      const target = isNode(node['source'])
        ? { specifier: textOf(node['source']), name: local, isType }
        : { local, isType }
      this.#exported.set(textOf(one['exported']), target)
    }
  }

  #declare(node: Node, text: string, declared = declaredBy(node)): readonly string[] {
    const names = new Set<string>()
    const inlineImports: ImportedName[] = []
    gather(node, names, inlineImports)
    const statement = { text, names, inlineImports }
    this.#statements.push(statement)
    for (const name of declared) {
      this.#declared.set(name, [...(this.#declared.get(name) ?? []), statement])
    }
    return declared
  }
}

function declaredBy(node: Node): readonly string[] {
  const declarators = node['declarations'] as readonly Node[] | undefined
  if (declarators !== undefined) return declarators.map(one => textOf(one['id']))
  return isNode(node['id']) ? [textOf(node['id'])] : []
}

function gather(node: Node, names: Set<string>, inlineImports: ImportedName[]): void {
  if (node.type === 'Identifier') names.add(textOf(node))
  if (node.type === 'TSImportType') inlineImports.push(inlineImport(node))
  for (const [field, value] of Object.entries(node)) {
    if (memberFields.has(field) && node['computed'] !== true) continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) gather(child, names, inlineImports)
    }
  }
}

function inlineImport(node: Node): ImportedName {
  let first = node['qualifier']
  while (isNode(first) && first.type === 'TSQualifiedName') first = first['left']
  return { specifier: textOf(node['source']), name: isNode(first) ? textOf(first) : '*' }
}

/** The path of another declaration file; null for packages that are not inside of ours. */
export function declarationPath(from: string, specifier: string): string | null {
  if (packagesInside.includes(specifier)) return `${specifier}/index.d.ts`
  if (!specifier.startsWith('.')) return null
  return posix.join(posix.dirname(from), specifier).replace(/\.(?:js|ts)$/, '.d.ts')
}
