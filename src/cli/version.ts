// `carillon --version`: asked by scripts, so it loads nothing else.

import { version } from '../service/version.ts'

export function printVersion(): void {
  process.stdout.write(`${version}\n`)
}
