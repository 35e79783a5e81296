// Files beside modules that a store reads when it opens: they lie in the library's dist where they lie
// in src.

import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { distOf } from '../packages.ts'

const asset = /\.(?:sql|lua)$/

const assetsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => asset.test(path))

/** Also removes those whose source is gone. */
export function copyAssets(root: string): void {
  const source = join(root, 'src')
  const dist = join(root, distOf('carillon'))
  for (const path of assetsIn(source)) {
    mkdirSync(dirname(join(dist, path)), { recursive: true })
    copyFileSync(join(source, path), join(dist, path))
  }
  for (const path of assetsIn(dist)) {
    if (!existsSync(join(source, path))) rmSync(join(dist, path))
  }
}
