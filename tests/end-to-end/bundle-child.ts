// Makes one file of plain JavaScript of a program of the tests, in a process of its own because plugins
// of the bundler need one that can wait. Modules find the files beside them where these lie in src.

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ownPlaces: Plugin = {
  name: 'own-places',
  setup: bundler => {
    bundler.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const place = JSON.stringify(pathToFileURL(path).href)
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', place)
      return { contents, loader: 'ts' }
    })
  },
}

const [entry, outfile] = process.argv.slice(2)
await build({
  entryPoints: [entry!],
  outfile: outfile!,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'error',
  plugins: [ownPlaces],
})
