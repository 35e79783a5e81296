// The OpenAPI document of a service that is started for it alone.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveConfig } from '../../src/service/config/config.ts'
import { startService } from '../../src/service/start.ts'

export async function openApiDocument(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'carillon-roles-'))
  const flags = { data, store: 'memory:', port: '0', logLevel: 'silent' }
  const service = await startService(resolveConfig({ flags, env: {}, file: null }))
  try {
    const answer = await fetch(`${service.address}/openapi.json`)
    return await answer.text()
  } finally {
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  }
}
