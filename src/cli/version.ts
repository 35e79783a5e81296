// `carillon --version`: asked by scripts, so it loads nothing else.

import { version } from '../serve/version.ts'

export function printVersion(): void {
  process.stdout.write(`${version}\n`)
}
