// PostgreSQL behind a pooler in transaction mode, with `listen=off`: what migrates, writes, claims
// or works beside others holds there too.

import { openPostgresBy } from '../support/postgres.ts'
import { startPooler } from '../support/servers/pooler.ts'
import { offeredServer } from '../support/servers/shared.ts'
import { beforeAllWith } from '../support/skip.ts'
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
let poolerUrl = ''

beforeAllWith('pooler', async () => {
  // Without a server each test skips itself.
  if ('missing' in offer) return async () => {}
  const pooler = await startPooler(offer.url)
  poolerUrl = pooler.url
  return () => pooler.stop()
})

function throughPooler(url: string): string {
  const [from, to] = [new URL(url), new URL(poolerUrl)]
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
