// Every script by name, with the digest Redis knows it by.

import { createHash } from 'node:crypto'
import { APPLICATION } from '../check.ts'
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
  /** Its last argument is the identity of the namespace it is meant for. */
  readonly isWriting: boolean
}

/**
 * Nothing is written to a namespace that lost its marker, or was made anew after that: what it held
 * is gone, and leases, schedules and limits known to this process are not those of the new one.
 */
const marked = `local identity = table.remove(ARGV)
if redis.call('HGET', KEYS[1], 'identity') ~= identity then
  local marker = redis.call('HMGET', KEYS[1], 'application', 'identity')
  if marker[1] ~= '${APPLICATION}' then
    return redis.error_reply('NOMARKER the marker of the namespace is gone')
  end
  if (marker[2] or '') ~= identity then
    return redis.error_reply('NEWMARKER the namespace was marked anew')
  end
end
`

/** Without flags a script is refused before its first command when memory is full. */
function writing(body: string): Script {
  return script(`#!lua\n${marked}${body}`, true)
}

/** What gives memory back must go on when there is none left. */
function freeing(body: string): Script {
  return script(`#!lua flags=allow-oom\n${marked}${body}`, true)
}

function reading(body: string): Script {
  return script(`#!lua flags=no-writes\n${body}`, false)
}

function script(text: string, isWriting: boolean): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex'), isWriting }
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
  addMeasures: writing(upkeep.addMeasuresScript),
  report: writing(upkeep.reportScript),
  pause: writing(upkeep.pauseScript),
  putRecords: writing(upkeep.putRecordsScript),
  beat: freeing(upkeep.beatScript),
  remove: freeing(upkeep.removeScript),
  setAside: freeing(upkeep.setAsideScript),
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
