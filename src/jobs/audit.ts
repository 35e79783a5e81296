// Who did what: one append-only record per deed, written in the same step as the deed itself.

import { createHash } from 'node:crypto'
import { statusOf } from '../core/control/status.ts'
import type { Job } from '../core/job.ts'
import type { JsonObject } from '../core/json.ts'
import type { RecordWrite } from '../core/record.ts'
import { DAY, type Instant } from '../core/time.ts'
import type { Ids } from '../runtime/ids.ts'

export interface Actor {
  readonly sub: string
  /** What the caller may see; `*` for every tenant. */
  readonly tenant: string
  readonly ip: string | null
  readonly requestId: string | null
}

/** A change that is about to be written; `before` is null for a new job, `after` for a removed one. */
export interface Deed {
  readonly verb: string
  readonly before: Job | null
  readonly after: Job | null
  /** The run that was asked for, if any. */
  readonly runId: string | null
  /** What was given as the reason, if anything. */
  readonly reason: string | null
  readonly now: Instant
}

/** A deed without its particulars. */
export const noDeed = { before: null, after: null, runId: null, reason: null } as const

/** Records to write in the same step as the deed: all of it or nothing. */
export type Also = (deed: Deed) => readonly RecordWrite[]

const AUDIT_KEPT_MS = 365 * DAY

/** The records of one tenant in the order of time; those of `*` belong to nobody. */
export function auditKind(tenant: string): string {
  return `audit:${tenant}`
}

export interface AuditEntry {
  readonly actor: Actor
  readonly tenant: string
  readonly action: string
  readonly object: string | null
  readonly result: string
  readonly more?: JsonObject
}

export function auditWrite(entry: AuditEntry, ids: Ids, now: Instant): RecordWrite {
  const { actor, tenant, action, object, result, more } = entry
  return {
    kind: auditKind(tenant),
    key: ids.next(now),
    value: {
      at: now,
      actor: actor.sub,
      actor_tenant: actor.tenant,
      tenant,
      action,
      object,
      result,
      ip: actor.ip,
      request_id: actor.requestId,
      ...more,
    },
    expectedVersion: 0,
    expireAt: now + AUDIT_KEPT_MS,
  }
}

/** Writes down every deed of this actor, in the books of the tenant it concerns. */
export function auditing(actor: Actor, ids: Ids): Also {
  return ({ verb, before, after, runId, reason, now }) => {
    const job = after ?? before
    if (job === null) return []
    const entry: AuditEntry = {
      actor,
      tenant: job.spec.tenant,
      action: `job.${verb.replaceAll(' ', '_')}`,
      object: job.id,
      result: 'done',
      more: {
        before: stateOf(before),
        after: stateOf(after),
        ...(runId ? { run: runId } : {}),
        ...(reason ? { reason } : {}),
      },
    }
    return [auditWrite(entry, ids, now)]
  }
}

/** Enough to see that something changed, and to prove what; never what a payload holds. */
function stateOf(job: Job | null): JsonObject | null {
  if (job === null) return null
  const hash = createHash('sha256').update(JSON.stringify(job.spec)).digest('hex')
  return { revision: job.revision, status: statusOf(job), hash }
}
