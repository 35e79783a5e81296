// The built dashboard as it lies in the package: a document, its assets with their compressed
// forms, and the list of its pages. It is read once and kept in memory.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Asset {
  readonly type: string
  readonly plain: Buffer
  readonly gzip: Buffer | null
}

export interface Bundle {
  /** With `./` before every address of an asset. */
  readonly document: string
  readonly assets: ReadonlyMap<string, Asset>
  /** Patterns of the paths that are pages: `/jobs/:id`. */
  readonly pages: readonly string[]
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** Beside the compiled service, or where a checkout builds it. */
const folders = ['../../../dashboard/', '../../../../packages/carillon-service/dist/dashboard/']

export function bundleFolder(): string | null {
  const found = folders
    .map(folder => fileURLToPath(new URL(folder, import.meta.url)))
    .find(folder => existsSync(join(folder, 'pages.json')))
  return found ?? null
}

export function readBundle(folder: string): Bundle {
  const assets = new Map<string, Asset>()
  const inside = join(folder, 'assets')
  for (const name of readdirSync(inside)) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const path = join(inside, name)
    const gzip = existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`) : null
    assets.set(name, { type, plain: readFileSync(path), gzip })
  }
  return {
    document: readFileSync(join(folder, 'index.html'), 'utf8'),
    assets,
    pages: JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8')) as string[],
  }
}
