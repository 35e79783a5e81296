// What a run logged, one attempt at a time; a reader may wait for the next lines.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso, SECOND, type Millis } from '../../../core/time.ts'
import type { LogLine, Page } from '../../../store/port.ts'
import type { Call } from '../call/call.ts'
import { HttpProblem } from '../call/problem.ts'
import { PerEngine } from '../call/per-engine.ts'
import { unauthorized } from '../call/refusal.ts'
import { useCase } from '../call/use-case.ts'
import { REVOCATION_CACHE_MS } from '../../auth/revocations.ts'
import { runParams } from './act.ts'
import { noRun, visibleRun } from './find.ts'
import type { FoundRun } from '../../../jobs/runs.ts'

/** Shorter than a connection may be silent. */
const FOLLOW_MAX_SECONDS = 20
const LOOK_MS: Millis = SECOND
/** Readers that wait for lines, in one process: each reads the store once a look. */
const FOLLOWING_MAX = 200
/** Of these, those of one tenant: the others find some free. */
const FOLLOWING_OF_TENANT_MAX = 100

export const logQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageMax),
  offset: z.coerce.number().int().min(0).max(limits.logLinesPerAttempt).default(0),
  attempt: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'The newest if not said.' }),
  follow: z.coerce
    .number()
    .int()
    .min(0)
    .max(FOLLOW_MAX_SECONDS)
    .default(0)
    .meta({ description: 'Seconds to wait for a line behind offset, if the attempt still runs.' }),
})

export const logAnswer = z
  .strictObject({
    run_id: z.string(),
    attempt: z.int(),
    execution_id: z.string(),
    lines: z.array(
      z.strictObject({
        at: z.iso.datetime(),
        level: z.enum(['debug', 'info', 'warn', 'error']),
        message: z.string(),
        fields: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    limit: z.int(),
    offset: z.int(),
    next_offset: z.int().meta({ description: 'Give it back as offset to go on.' }),
    is_over: z.boolean().meta({ description: 'The attempt has ended and these are its last.' }),
  })
  .meta({ id: 'RunLog' })

type Query = z.output<typeof logQuery>

export const readRunLog = useCase({
  access: 'viewer',
  params: runParams,
  query: logQuery,
  result: logAnswer,
  handle: async call => {
    const { params, query } = call
    if (query.follow === 0) return readLog(call, params.id, query)
    const leave = followers.of(call.engine).enter(call.caller.tenant)
    call.connection.leaveShare()
    try {
      return await readLog(call, params.id, query)
    } finally {
      leave()
    }
  },
})

/** How many readers of each tenant wait for lines. */
class Followers {
  readonly #byTenant = new Map<string, number>()

  /** Throws when there are too many; the result is called when this one has gone. */
  enter(tenant: string): () => void {
    const own = this.#byTenant.get(tenant) ?? 0
    if (own >= FOLLOWING_OF_TENANT_MAX) throw tooMany(FOLLOWING_OF_TENANT_MAX, 'for each tenant')
    const all = [...this.#byTenant.values()].reduce((sum, count) => sum + count, 0)
    if (all >= FOLLOWING_MAX) throw tooMany(FOLLOWING_MAX, 'in one process')
    this.#byTenant.set(tenant, own + 1)
    return () => {
      const left = this.#byTenant.get(tenant)! - 1
      if (left === 0) this.#byTenant.delete(tenant)
      else this.#byTenant.set(tenant, left)
    }
  }
}

const followers = new PerEngine(() => new Followers())

function tooMany(most: number, whose: string): HttpProblem {
  const detail = `too many readers wait for lines of logs: at most ${most} ${whose}`
  return new HttpProblem('rate-limited', detail, { retryAfterSeconds: 1 })
}

async function readLog(call: Call, id: string, query: Query) {
  const { store, clock } = call.engine
  const since = clock.now()
  const deadline = since + query.follow * SECOND
  for (;;) {
    // Read before the lines: an attempt that ends in between has them all.
    const source = attemptOf(await visibleRun(call, id), query.attempt)
    const page = await store.log(source.id, { limit: query.limit, offset: query.offset })
    const isDone = page.items.length > 0 || !source.isLive || call.connection.isGone()
    if (isDone || clock.now() >= deadline) {
      const hasWaited = clock.now() - since >= REVOCATION_CACHE_MS
      if (hasWaited && !(await call.connection.isStillAllowed())) throw unauthorized()
      return answerOf(id, query, source, page)
    }
    await new Promise<void>(resolve => {
      clock.after(Math.min(LOOK_MS, deadline - clock.now()), resolve)
    })
  }
}

interface Source {
  readonly id: string
  readonly attempt: number
  readonly isLive: boolean
}

function attemptOf({ job, run }: FoundRun, wanted: number | undefined): Source {
  const live = run.status === 'running' ? currentRunOf(job).run.attempt + 1 : null
  const isLive = live !== null && (wanted === undefined || wanted === live)
  if (isLive) return { id: job.lease!.attemptId, attempt: live, isLive: true }
  const { attempts } = run
  const held = wanted === undefined ? attempts.at(-1) : attempts.find(a => a.attempt === wanted)
  if (!held) throw noRun()
  return { id: held.id, attempt: held.attempt, isLive: false }
}

function answerOf(id: string, { limit, offset }: Query, source: Source, page: Page<LogLine>) {
  return {
    run_id: id,
    attempt: source.attempt,
    execution_id: source.id,
    lines: page.items.map(({ at, level, message, fields }) => ({
      at: iso(at),
      level,
      message,
      fields,
    })),
    limit,
    offset,
    next_offset: offset + page.items.length,
    is_over: !source.isLive && page.cursor === null,
  }
}
