// `carillon --version`: asked by scripts, so it loads nothing else.

import process from 'node:process'

export async function printVersion(): Promise<void> {
  const { version } = await import('../serve/version.ts')
  process.stdout.write(`${version}\n`)
}
