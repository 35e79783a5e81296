// A sheet that nobody gathers is a page without its styles, so each of them must be in the list.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

it('gathers every style sheet of the dashboard once', () => {
  const text = readFileSync(join(root, 'styles/all.css'), 'utf8')
  const gathered = [...text.matchAll(/@import '(\.[^']+)'/g)].map(([, path]) =>
    join('styles', path!),
  )
  const sheets = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const written = sheets.filter(path => path.endsWith('.css') && path !== join('styles', 'all.css'))
  expect(gathered.toSorted()).toEqual(written.toSorted())
})
