// What every store owes its callers: each obligation of the port is one named test.

import { afterEach, beforeEach, describe } from 'vitest'
import { virtualClock } from '../support/builders.ts'
import type { OpenedStore, OpenStore } from '../support/stores.ts'
import { applyTests } from './suite/apply.ts'
import { attemptTests } from './suite/attempts.ts'
import { attemptsOfManyTests } from './suite/attempts-of-many.ts'
import type { Bench } from './suite/bench.ts'
import { claimTests } from './suite/claim.ts'
import { laneTests } from './suite/claim-lanes.ts'
import { tenantTurnTests } from './suite/claim-tenants.ts'
import { orderTests } from './suite/claim-order.ts'
import { commitAlikeTests } from './suite/commit-alike.ts'
import { commitTests } from './suite/commit.ts'
import { commitPartTests } from './suite/commit-parts.ts'
import { besideTests, damageTests } from './suite/damage.ts'
import { countTests } from './suite/counts.ts'
import { countUpToTests } from './suite/count.ts'
import { dumpTests } from './suite/dump.ts'
import { fieldTests } from './suite/fields.ts'
import { insertAndClaimTests } from './suite/insert-and-claim.ts'
import { insertManyTests } from './suite/insert-many.ts'
import { insertTests } from './suite/insert.ts'
import { ledgerTests } from './suite/ledger.ts'
import { lifetimeTests } from './suite/lifetime.ts'
import { listStatusTests } from './suite/list-status.ts'
import { listTests } from './suite/list.ts'
import { loadTests } from './suite/load.ts'
import { measuresTests } from './suite/measures.ts'
import { offsetTests } from './suite/offset.ts'
import { overdueTests } from './suite/overdue.ts'
import { payloadTests } from './suite/payloads.ts'
import { pruneTests } from './suite/prune.ts'
import { raceTests } from './suite/races.ts'
import { recordTests } from './suite/records.ts'
import { removeTests } from './suite/remove.ts'
import { renewTests } from './suite/renew.ts'
import { reportTests } from './suite/report.ts'
import { retentionTests } from './suite/retention.ts'
import { taskOutcomeTests } from './suite/task-outcomes.ts'
import { tenantTests } from './suite/tenants.ts'
import { upcomingTests } from './suite/upcoming.ts'

const topics = [
  lifetimeTests,
  insertTests,
  insertManyTests,
  claimTests,
  insertAndClaimTests,
  orderTests,
  laneTests,
  tenantTurnTests,
  commitTests,
  commitAlikeTests,
  commitPartTests,
  applyTests,
  measuresTests,
  renewTests,
  overdueTests,
  upcomingTests,
  listTests,
  listStatusTests,
  offsetTests,
  attemptTests,
  attemptsOfManyTests,
  payloadTests,
  fieldTests,
  ledgerTests,
  countTests,
  taskOutcomeTests,
  tenantTests,
  countUpToTests,
  removeTests,
  retentionTests,
  pruneTests,
  reportTests,
  recordTests,
  dumpTests,
  loadTests,
  raceTests,
  damageTests,
  besideTests,
]

type Topic = (bench: () => Bench) => void

export interface SuiteInput {
  readonly name: string
  readonly open: OpenStore
  /** All of them unless said. */
  readonly only?: readonly Topic[]
}

export function storeSuite({ name, open, only = topics }: SuiteInput): void {
  describe(`store conformance: ${name}`, () => {
    let held: OpenedStore | null = null
    let bench: Bench | null = null

    beforeEach(async () => {
      const clock = virtualClock()
      held = await open(() => clock.now)
      bench = { store: held.store, url: held.url, second: held.second, clock }
    })

    afterEach(async () => {
      await held?.close()
    })

    for (const tests of only) tests(() => bench!)
  })
}
