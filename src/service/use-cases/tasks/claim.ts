// Work for a process that does it elsewhere. Waits while there is none.

import { z } from 'zod'
import { isActionName } from '../../../core/spec/action-name.ts'
import type { Problem } from '../../../core/errors.ts'
import { FAIR_TASK } from '../../../core/fairness/fair.ts'
import { laneLimits } from '../../../core/fairness/lane.ts'
import { limits } from '../../../core/limits.ts'
import { specDefaults } from '../../../core/spec.ts'
import { RemoteClaims, type RemoteClaimRequest } from '../../../remote/claims.ts'
import type { Call } from '../call/call.ts'
import { PerEngine } from '../call/per-engine.ts'
import { HttpProblem } from '../call/problem.ts'
import { refuseInvalid, unauthorized } from '../call/refusal.ts'
import { useCase } from '../call/use-case.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import { REVOCATION_CACHE_MS } from '../../auth/revocations.ts'
import { whole } from '../jobs/fields.ts'
import { text } from '../jobs/texts.ts'
import { auditTasks, taskDeed } from './audit.ts'
import { claimedSchema, claimedView } from './view.ts'

const CLAIM_MAX = 100
const WAIT_SECONDS_MAX = 60
const QUEUES_MAX = 20
/** Requests that wait for work at once, in one process. */
const WAITING_MAX = 1_000
/** Of these, those of one tenant: the others find some free. */
const WAITING_OF_TENANT_MAX = 500
export const LEASE_SECONDS = { min: 5, max: 3_600, default: 60 } as const

const users = z
  .array(text(limits.nameLength), { error: 'must be a list of users' })
  .max(laneLimits.spansMax, `must have at most ${laneLimits.spansMax} users`)

export const leaseSeconds = whole(LEASE_SECONDS.min, LEASE_SECONDS.max)
  .default(LEASE_SECONDS.default)
  .meta({ description: 'How long it is held without a heartbeat.' })

const names = (max: number, initial: string) =>
  z
    .array(text(limits.nameLength), { error: 'must be a list of names' })
    .min(1, 'must have at least one name')
    .max(max, `must have at most ${max} names`)
    .default([initial])

const claimFields = z
  .strictObject({
    worker: text(limits.nameLength).meta({ description: 'Shown as the holder.' }),
    queues: names(QUEUES_MAX, specDefaults.queue),
    handlers: names(QUEUES_MAX, FAIR_TASK),
    users: users.default([]).meta({ description: 'Served first; empty for every user.' }),
    steal: users.default([]).meta({ description: 'Served when those have nothing.' }),
    limit: whole(1, CLAIM_MAX).default(1),
    wait_seconds: whole(0, WAIT_SECONDS_MAX).default(0),
    lease_seconds: leaseSeconds,
  })
  .meta({ id: 'ClaimBody', description: 'What a worker can take.' })

/** Nodes of the service do the work of actions: their rows hold secrets. */
function actionProblems(handlers: unknown): Problem[] {
  const given = Array.isArray(handlers) ? (handlers as unknown[]) : []
  return given
    .filter(name => typeof name === 'string' && isActionName(name))
    .map(value => ({ field: 'handlers', value, rule: 'must not name a built-in action' }))
}

function userProblems(assigned: unknown, steal: unknown): Problem[] {
  if (!Array.isArray(steal) || steal.length === 0) return []
  const own = new Set(Array.isArray(assigned) ? assigned : [])
  const both = steal.filter(user => own.has(user))
  if (own.size === 0) {
    return [{ field: 'steal', value: steal, rule: 'needs users that are served first' }]
  }
  const rule = 'must not name users that are served first'
  return both.length === 0 ? [] : [{ field: 'steal', value: both, rule }]
}

const claimAnswer = z.strictObject({ tasks: z.array(claimedSchema) }).meta({ id: 'Claimed' })

export const remoteClaims = new PerEngine(engine => new RemoteClaims(engine, engine.node))

export const claimTasks = useCase({
  access: 'operator',
  body: claimFields,
  check: ({ handlers, users: assigned, steal }) => [
    ...actionProblems(handlers),
    ...userProblems(assigned, steal),
  ],
  result: claimAnswer,
  handle: async call => {
    const { engine, body, connection } = call
    const claims = remoteClaims.of(engine)
    const request = requestOf(call, body)
    if (body.wait_seconds > 0) {
      assertMayWait(claims, request)
      connection.leaveShare()
    }
    const { signal, release } = connection.hold()
    try {
      const since = engine.clock.now()
      const held = await claims.claim(request, { ms: body.wait_seconds * 1_000, signal })
      const hasWaited = engine.clock.now() - since >= REVOCATION_CACHE_MS
      if (hasWaited && held.length > 0 && !(await connection.isStillAllowed())) {
        await claims.release(held)
        throw unauthorized()
      }
      await auditTasks(
        call,
        held.map(({ job }) => taskDeed('task.claim', job)),
      )
      return { tasks: held.map(claimedView) }
    } finally {
      release()
    }
  },
})

function assertMayWait(claims: RemoteClaims, { tenant }: RemoteClaimRequest): void {
  if (claims.waiting >= WAITING_MAX) {
    throw tooManyWaiting(`too many claims wait here: at most ${WAITING_MAX} in one process`)
  }
  if (claims.waitingOf(tenant) >= WAITING_OF_TENANT_MAX) {
    throw tooManyWaiting(
      `too many claims of this tenant wait here: at most ${WAITING_OF_TENANT_MAX}`,
    )
  }
}

function tooManyWaiting(detail: string): HttpProblem {
  return new HttpProblem('rate-limited', detail, { retryAfterSeconds: 1 })
}

function requestOf({ caller }: Call, body: z.output<typeof claimFields>): RemoteClaimRequest {
  const { tenant } = caller
  const isWide = tenant === EVERY_TENANT
  const { users: assigned, steal } = body
  const rule = 'cannot be named with a token of every tenant'
  const isUnclear = isWide && assigned.length > 0
  refuseInvalid('native', isUnclear ? [{ field: 'users', value: assigned, rule }] : [])
  return {
    worker: body.worker,
    tenant: isWide ? null : tenant,
    queues: [...new Set(body.queues)],
    handlers: [...new Set(body.handlers)],
    users: assigned,
    steal,
    limit: body.limit,
    leaseMs: body.lease_seconds * 1_000,
  }
}
