#!/usr/bin/env node
// The `carillon` command of the library: it runs the command of carillon-service, which is a package of
// its own, or says how to install it.

import './node-version.ts'
import module, { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Installed {
  readonly manifest: string
  readonly version: string
}

const SERVICE = 'carillon-service'

const versionIn = (manifest: string | URL): string =>
  (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version

/** Null where the package is not installed. */
function serviceFrom(place: string): Installed | null {
  try {
    const manifest = createRequire(place).resolve(`${SERVICE}/package.json`)
    return { manifest, version: versionIn(manifest) }
  } catch {
    return null
  }
}

function refuse(line: string): void {
  console.error(line)
  process.exitCode = 1
}

// Where Node can keep compiled code between starts, it does: from version 22.8 on.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()

const version = versionIn(new URL('../package.json', import.meta.url))
const install = `npm install ${SERVICE}@${version}`
// The service of the project at hand comes first: a global command serves projects with their own.
const service =
  serviceFrom(join(process.cwd(), 'package.json')) ?? serviceFrom(fileURLToPath(import.meta.url))

if (service === null) {
  if (['-V', '--version'].includes(process.argv[2] ?? '')) process.stdout.write(`${version}\n`)
  else refuse(`The carillon command is in the package ${SERVICE}: ${install}`)
} else if (service.version === version) {
  await import(pathToFileURL(join(service.manifest, '../dist/cli/main.js')).href)
} else {
  refuse(
    `carillon ${version} needs ${SERVICE} ${version}, found ${service.version} at ` +
      `${service.manifest}: ${install}`,
  )
}
