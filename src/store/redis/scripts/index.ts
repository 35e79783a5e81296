// Every script by name, with the digest Redis knows it by.

import { createHash } from 'node:crypto'
import { applyScript } from './apply.ts'
import { claimScript } from './claim.ts'
import { commitScript } from './commit.ts'
import * as dump from './dump.ts'
import { insertAndClaimRuledScript, insertAndClaimScript } from './insert-and-claim.ts'
import { insertScript } from './insert.ts'
import * as inspect from './inspect.ts'
import { listOldScript, listScript } from './list.ts'
import { loadScript } from './load.ts'
import * as past from './past.ts'
import { pruneScript } from './prune.ts'
import { claimRuledScript } from './ruled.ts'
import * as reads from './reads.ts'
import * as upcoming from './upcoming.ts'
import * as upkeep from './upkeep.ts'

export interface Script {
  readonly text: string
  readonly sha: string
}

/** Without flags a script is refused before its first command when memory is full. */
function writing(body: string): Script {
  return script(`#!lua\n${body}`)
}

/** What gives memory back must go on when there is none left. */
function freeing(body: string): Script {
  return script(`#!lua flags=allow-oom\n${body}`)
}

function reading(body: string): Script {
  return script(`#!lua flags=no-writes\n${body}`)
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export const scripts = {
  insert: writing(insertScript),
  insertAndClaim: writing(insertAndClaimScript),
  insertAndClaimRuled: writing(insertAndClaimRuledScript),
  claim: writing(claimScript),
  claimRuled: writing(claimRuledScript),
  commit: writing(commitScript),
  apply: writing(applyScript),
  renew: freeing(upkeep.renewScript),
  report: writing(upkeep.reportScript),
  pause: writing(upkeep.pauseScript),
  putRecords: writing(upkeep.putRecordsScript),
  remove: freeing(upkeep.removeScript),
  prune: freeing(pruneScript),
  get: reading(reads.getScript),
  rows: reading(reads.rowsScript),
  overdue: freeing(reads.overdueScript),
  nextDue: reading(reads.nextDueScript),
  list: reading(listScript),
  listOld: writing(listOldScript),
  ready: reading(upcoming.readyScript),
  due: reading(upcoming.dueScript),
  timed: reading(upcoming.timedScript),
  past: reading(past.pastScript),
  pastOfAll: reading(past.pastOfAllScript),
  listRecords: reading(reads.listRecordsScript),
  progress: reading(reads.progressScript),
  tenants: reading(reads.tenantsScript),
  counts: reading(reads.countsScript),
  dumpSkips: reading(dump.skipsScript),
  dumpProgress: reading(dump.progressScript),
  dumpLogged: reading(dump.loggedScript),
  dumpPruned: reading(dump.prunedScript),
  load: writing(loadScript),
  inspect: reading(inspect.inspectScript),
  counted: reading(inspect.countedScript),
  mend: writing(inspect.mendScript),
  recount: writing(inspect.recountScript),
} as const

export type ScriptName = keyof typeof scripts
