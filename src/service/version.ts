// The version of the package this runs from.

import { readFileSync } from 'node:fs'

const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }

export const { version } = manifest
