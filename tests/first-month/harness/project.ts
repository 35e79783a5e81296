// The empty project in which the packed package is installed, and folders of its programs.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const PROJECT_VARIABLE = 'CARILLON_FIRST_MONTH_PROJECT'

/** The folder of the project; `carillon`, `pg`, `@redis/client` and `zod` resolve from it. */
export function project(): string {
  const folder = process.env[PROJECT_VARIABLE]
  if (folder === undefined) throw new Error('run this through vitest: --project first-month')
  return folder
}

/** The CLI of the installed package. */
export const cliPath = (): string =>
  join(project(), 'node_modules/carillon', process.env['CARILLON_BIN'] ?? 'dist/cli/main.js')

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
