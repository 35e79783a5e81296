// The empty project in which the packed package is installed, and folders of its programs.

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const PROJECT_VARIABLE = 'CARILLON_FIRST_MONTH_PROJECT'

/** The folder of the project; `carillon`, `pg`, `@redis/client` and `zod` resolve from it. */
export function project(): string {
  const folder = process.env[PROJECT_VARIABLE]
  if (folder === undefined) throw new Error('run this through vitest: --project first-month')
  return folder
}

/** The `carillon` command, as the installed package names it. */
export function cliPath(): string {
  const installed = join(project(), 'node_modules/carillon')
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly bin: { readonly carillon: string }
  }
  return join(installed, bin.carillon)
}

/** A folder of its own inside the project, with the given files; removed with the project. */
export function workFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(project(), 'work-'))
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  return folder
}
