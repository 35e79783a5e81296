// Bundles the dashboard into the service's package: its assets with a compressed form beside each, and the
// list of its pages, from which the service knows what to answer with the document.
// On its own: `tsx scripts/dashboard.ts`.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process, { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { formShapesModule } from './build/form-shapes.ts'
import { NOTICES, notices } from './build/notices.ts'
import { paths } from '../src/dashboard/paths.ts'
import { distOf } from './packages.ts'

const compressed = /\.(?:js|css|svg)$/

const builtIn = (root: string, suffix = '') =>
  join(root, distOf('carillon-service'), `dashboard${suffix}`)

export async function buildDashboard(root: string): Promise<void> {
  const made = builtIn(root, '.new')
  await inProduction(() =>
    build({
      configFile: join(root, 'src/dashboard/vite.config.ts'),
      plugins: [formShapesModule, notices],
      build: { outDir: made },
    }),
  )
  const assets = join(made, 'assets')
  for (const name of readdirSync(assets)) {
    const path = join(assets, name)
    if (compressed.test(name))
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
  }
  writeFileSync(join(made, 'pages.json'), JSON.stringify(Object.values(paths)))
  replace(builtIn(root), made)
}

/** Under vitest NODE_ENV is `test`, and vite would build for development. */
async function inProduction(work: () => Promise<unknown>): Promise<void> {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

/** Files first and the document last, so that a service that starts meanwhile finds all it names. */
function replace(place: string, made: string): void {
  mkdirSync(join(place, 'assets'), { recursive: true })
  cpSync(join(made, 'assets'), join(place, 'assets'), { recursive: true })
  const others = [NOTICES, 'pages.json', 'index.html']
  for (const name of others) renameSync(join(made, name), join(place, name))
  const current = new Set(readdirSync(join(made, 'assets')))
  for (const name of readdirSync(join(place, 'assets'))) {
    if (!current.has(name)) rmSync(join(place, 'assets', name))
  }
  rmSync(made, { recursive: true })
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  if (existsSync(builtIn(root, '.new'))) rmSync(builtIn(root, '.new'), { recursive: true })
  await buildDashboard(root)
}
