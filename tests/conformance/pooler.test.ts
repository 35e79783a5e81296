// PostgreSQL behind a pooler in transaction mode, with `listen=off`: what migrates, writes, claims
// or works beside others holds there too.

import { afterAll, beforeAll } from 'vitest'
import { openPostgresBy } from '../support/postgres.ts'
import { startPooler, type Pooler } from '../support/servers/pooler.ts'
import { offeredServer } from '../support/servers/shared.ts'
import { storeSuite } from './suite.ts'
import { claimTests } from './suite/claim.ts'
import { commitAlikeTests } from './suite/commit-alike.ts'
import { commitTests } from './suite/commit.ts'
import { insertAndClaimTests } from './suite/insert-and-claim.ts'
import { insertManyTests } from './suite/insert-many.ts'
import { insertTests } from './suite/insert.ts'
import { lifetimeTests } from './suite/lifetime.ts'
import { raceTests } from './suite/races.ts'
import { renewTests } from './suite/renew.ts'

const offer = await offeredServer('postgres')
let pooler: Pooler | null = null

beforeAll(async () => {
  if ('url' in offer) pooler = await startPooler(offer.url)
})

afterAll(() => pooler?.stop())

function throughPooler(url: string): string {
  const [from, to] = [new URL(url), new URL(pooler!.url)]
  from.host = to.host
  return `${from.href}&listen=off&pool=2`
}

storeSuite({
  name: 'postgres behind a pooler',
  open: openPostgresBy(throughPooler),
  only: [
    lifetimeTests,
    insertTests,
    insertManyTests,
    claimTests,
    insertAndClaimTests,
    commitTests,
    commitAlikeTests,
    renewTests,
    raceTests,
  ],
})
