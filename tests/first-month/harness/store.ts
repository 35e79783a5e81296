// Stores of one test: a file in a folder of the project, or a place on a shared server.

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freshPlace } from '../../support/servers/shared.ts'
import { skipTest } from '../../support/skip.ts'
import { workFolder } from './project.ts'

export type StoreKind = 'sqlite' | 'postgres' | 'redis'

/** The URL of an empty store; skips the test where its server is missing (fails in CI). */
export async function freshStore(kind: StoreKind, skip?: (note: string) => void): Promise<string> {
  if (kind === 'sqlite') return `sqlite:${join(workFolder(), 'carillon.db')}`
  const place = await freshPlace(kind)
  if ('missing' in place) {
    skip?.(place.missing)
    skipTest(place.missing)
  }
  onTestFinished(() => place.clean())
  return place.url
}
