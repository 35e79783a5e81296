// The licences of the packages whose code lies inside a bundle, in a file beside it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

export const NOTICES = 'THIRD-PARTY.txt'

export const notices: Plugin = {
  name: 'notices',
  generateBundle(_, made) {
    const ids = Object.values(made).flatMap(file => (file.type === 'chunk' ? file.moduleIds : []))
    const source = noticesOf(ids)
    if (source !== '') this.emitFile({ type: 'asset', fileName: NOTICES, source })
  },
}

/** By the modules a bundle holds; empty when none is of a package. */
export function noticesOf(modules: readonly string[]): string {
  return [...foldersOf(modules)].toSorted().map(noticeOf).join('\n\n')
}

function foldersOf(ids: readonly string[]): ReadonlySet<string> {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/
  return new Set(ids.flatMap(id => folder.exec(id)?.[0] ?? []))
}

function noticeOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
  }
  const licence = join(folder, 'LICENSE')
  // Better no bundle than one that leaves out whose work is in it.
  if (!existsSync(licence)) throw new Error(`${name} is bundled, but has no file LICENSE`)
  return `${name} ${version}\n\n${readFileSync(licence, 'utf8').trim()}\n`
}
