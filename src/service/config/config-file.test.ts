// What a configuration file may bring as handlers.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfigFile } from './config-file.ts'

test('S1: a handler with the name of a built-in action is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-config-'))
  try {
    const path = join(folder, 'carillon.config.mjs')
    await writeFile(path, 'export default { handlers: { "action:command": () => null } }')
    await expect(readConfigFile(folder)).rejects.toMatchObject({
      problems: [
        {
          field: `handlers.action:command in ${path}`,
          rule: 'must not have the name of a built-in action',
        },
      ],
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
