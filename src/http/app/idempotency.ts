// A POST that is repeated with the same Idempotency-Key happens once: the answer is stored in the
// same step as the deed, and given again.

import { createHash } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'
import { jsonEqual, type Json, type JsonObject } from '../../core/json.ts'
import type { RecordWrite } from '../../core/record.ts'
import { DAY } from '../../core/time.ts'
import { auditing, type Also, type Deed } from '../../jobs/audit.ts'
import type { Client } from '../../jobs/client.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf, EVERY_TENANT } from '../auth/principal.ts'
import { ruleOf } from './caller-rule.ts'
import type { AppParts, Reply, Request } from './parts.ts'
import { HttpProblem } from './problem.ts'
import { problemOf } from './refusal.ts'

const KEPT_MS = DAY
const KEY_LENGTH_MAX = 255

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers?: Readonly<Record<string, string>>
}

/** Verbs in the name of the caller: what they do is in the audit, and held to the caller's rules. */
export function clientOf(
  request: Request,
  parts: AppParts,
  also: Also = auditOf(request, parts.engine.ids),
): Client {
  const rule = ruleOf(request, parts)
  return parts.engine.client.with({ also, ...(rule === null ? {} : { rule }) })
}

function auditOf(request: Request, ids: AppParts['engine']['ids']): Also {
  return auditing(actorOf(callerOf(request), request.ip, request.id), ids)
}

export interface Act {
  /** What the deed is answered with; called before it is written. */
  readonly answer: (deed: Deed) => Answer
  readonly act: (client: Client) => Promise<unknown>
}

/** Does it, or gives the answer it had when it was done before. */
export async function once(
  request: Request,
  reply: Reply,
  parts: AppParts,
  { answer, act }: Act,
): Promise<Reply> {
  const { engine } = parts
  const held = keyOf(request)
  if (held) {
    const before = await stored(held, parts)
    if (before) return replay(before, held, reply)
  }
  const audit = auditOf(request, engine.ids)
  let first: { id: string; answer: Answer } | null = null
  const also: Also = deed => {
    const id = (deed.after ?? deed.before)?.id ?? ''
    const writes = audit(deed)
    // What follows from the deed, such as the end of its tasks, has no answer of its own.
    if (first !== null && first.id !== id) return writes
    first = { id, answer: answer(deed) }
    return held ? [...writes, recordOf(held, first.answer, deed.now)] : writes
  }
  try {
    await act(clientOf(request, parts, also))
  } catch (error) {
    // Whoever used the key at the same moment was faster: theirs is the answer.
    const before = held && isConflict(error) ? await stored(held, parts) : null
    if (!before || !held) throw error
    return replay(before, held, reply)
  }
  const done = (first as { answer: Answer } | null)?.answer
  if (done === undefined) throw new HttpProblem('internal', 'nothing was done')
  return send(done, reply)
}

/**
 * For what is no deed of a job: the key is taken first, and the answer put under it afterwards. If
 * the service dies in between, nobody knows whether it happened, so the key stays taken.
 */
export async function onceKept(
  request: Request,
  reply: Reply,
  parts: AppParts,
  act: () => Promise<Answer>,
): Promise<Reply> {
  const held = keyOf(request)
  if (held === null) return send(await act(), reply)
  const { store, clock } = parts.engine
  const { kind, key, asked } = held
  const now = clock.now()
  const mark = { kind, key, expectedVersion: 0, expireAt: now + KEPT_MS }
  const [result] = await store.putRecords([{ ...mark, value: { asked, answer: null } }], now)
  if (result === 'conflict') return replay(await stored(held, parts), held, reply)
  try {
    const answer = await act()
    await store.putRecords([{ ...recordOf(held, answer, now), expectedVersion: null }], now)
    return send(answer, reply)
  } catch (error) {
    // What was refused may be asked for again, in other words.
    const gone = { ...mark, value: null, expectedVersion: null, remove: true }
    if (isRefusal(error)) await store.putRecords([gone], now)
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  return problemOf(error, 'native').status < 500
}

function isConflict(error: unknown): boolean {
  return error instanceof SchedulerError && error.code === 'REVISION_CONFLICT'
}

function send({ status, body, headers }: Answer, reply: Reply): Reply {
  return reply
    .code(status)
    .headers(headers ?? {})
    .send(status === 204 ? undefined : body)
}

interface Key {
  readonly kind: string
  readonly key: string
  /** What was asked for, so that the same key for something else is noticed. */
  readonly asked: JsonObject
}

function keyOf(request: Request): Key | null {
  const given = request.headers['idempotency-key']
  if (given === undefined) return null
  if (typeof given !== 'string' || !/^[\x21-\x7e]+$/.test(given) || given.length > KEY_LENGTH_MAX) {
    throw new HttpProblem('invalid-request', 'the Idempotency-Key is not valid', {
      status: 400,
      errors: [
        {
          field: 'headers.idempotency-key',
          value: given,
          rule: `must be 1 to ${KEY_LENGTH_MAX} visible characters`,
        },
      ],
    })
  }
  const { sub, tenant } = callerOf(request)
  const hash = createHash('sha256')
    .update(JSON.stringify(request.body ?? null))
    .digest('hex')
  const path = request.url.split('?', 1)[0]!.replace(/\/+$/, '')
  const chosen = chosenTenant(request)
  return {
    kind: `idempotency:${tenant}`,
    key: createHash('sha256').update(`${sub}\n${chosen}${given}`).digest('hex'),
    asked: { method: request.method, path, hash },
  }
}

/** Whoever acts for every tenant has keys of their own in each that they name in the query. */
function chosenTenant(request: Request): string {
  const { tenant } = (request.query ?? {}) as { readonly tenant?: unknown }
  const isWide = callerOf(request).tenant === EVERY_TENANT
  return isWide && typeof tenant === 'string' ? `${tenant}\n` : ''
}

function recordOf({ kind, key, asked }: Key, answer: Answer, now: number): RecordWrite {
  const { status, body, headers = {} } = answer
  const value = { asked, answer: { status, body, headers } }
  return { kind, key, value, expectedVersion: 0, expireAt: now + KEPT_MS }
}

async function stored({ kind, key }: Key, { engine }: AppParts): Promise<JsonObject | null> {
  const [record] = await engine.store.getRecords(kind, [key], engine.clock.now())
  return record ? (record.value as JsonObject) : null
}

function replay(before: JsonObject | null, { asked }: Key, reply: Reply): Reply {
  if (before === null || (before.answer === null && jsonEqual(before.asked, asked))) {
    throw new HttpProblem('conflict', 'a request with this Idempotency-Key is under way')
  }
  if (!jsonEqual(before.asked, asked)) {
    const detail = 'this Idempotency-Key was used for another request'
    throw new HttpProblem('idempotency-key-reused', detail)
  }
  return send(before.answer as unknown as Answer, reply.header('Idempotency-Replayed', 'true'))
}
