// A POST that is repeated with the same Idempotency-Key happens once: the answer is stored in the
// same step as the deed, and given again.

import { createHash } from 'node:crypto'
import { SchedulerError } from '../../../core/errors.ts'
import { jsonEqual, type JsonObject } from '../../../core/json.ts'
import type { RecordWrite } from '../../../core/record.ts'
import { DAY } from '../../../core/time.ts'
import type { Also, Deed } from '../../../jobs/audit.ts'
import type { Client } from '../../../jobs/client.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import { Answer, type AnswerParts } from './answer.ts'
import type { Call } from './call.ts'
import { auditOf, clientOf } from './client.ts'
import { HttpProblem } from './problem.ts'
import { problemOf } from './refusal.ts'

const KEPT_MS = DAY
const KEY_LENGTH_MAX = 255

export interface Act {
  /** What the deed is answered with; called before it is written. */
  readonly answer: (deed: Deed) => AnswerParts
  readonly act: (client: Client) => Promise<unknown>
}

/** Does it, or gives the answer it had when it was done before. */
export async function once(call: Call, { answer, act }: Act): Promise<Answer> {
  const held = keyOf(call)
  if (held) {
    const before = await stored(held, call)
    if (before) return replay(before, held)
  }
  const audit = auditOf(call)
  let first: { id: string; answer: Answer } | null = null
  const also: Also = deed => {
    const id = (deed.after ?? deed.before)?.id ?? ''
    const writes = audit(deed)
    // What follows from the deed, such as the end of its tasks, has no answer of its own.
    if (first !== null && first.id !== id) return writes
    const { status, body, headers } = answer(deed)
    first = { id, answer: new Answer(status, body, headers) }
    return held ? [...writes, recordOf(held, first.answer, deed.now)] : writes
  }
  try {
    await act(clientOf(call, also))
  } catch (error) {
    // Whoever used the key at the same moment was faster: theirs is the answer.
    const before = held && isConflict(error) ? await stored(held, call) : null
    if (!before || !held) throw error
    return replay(before, held)
  }
  const done = (first as { answer: Answer } | null)?.answer
  if (done === undefined) throw new HttpProblem('internal', 'nothing was done')
  return done
}

/**
 * For what is no deed of a job: the key is taken first, and the answer put under it afterwards. If
 * the service dies in between, nobody knows whether it happened, so the key stays taken.
 */
export async function onceKept(call: Call, act: () => Promise<Answer>): Promise<Answer> {
  const held = keyOf(call)
  if (held === null) return act()
  const { store, clock } = call.engine
  const { kind, key, asked } = held
  const now = clock.now()
  const mark = { kind, key, expectedVersion: 0, expireAt: now + KEPT_MS }
  const [result] = await store.putRecords([{ ...mark, value: { asked, answer: null } }], now)
  if (result === 'conflict') return replay(await stored(held, call), held)
  try {
    const answer = await act()
    await store.putRecords([{ ...recordOf(held, answer, now), expectedVersion: null }], now)
    return answer
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

interface Key {
  readonly kind: string
  readonly key: string
  /** What was asked for, so that the same key for something else is noticed. */
  readonly asked: JsonObject
}

function keyOf(call: Call): Key | null {
  const { idempotencyKey: given, caller, target } = call
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
  const { sub, tenant, role } = caller
  // Answers differ by role: that of an admin is not given to the same person as an operator.
  const hash = createHash('sha256')
    .update(`${role}
${JSON.stringify(call.body ?? null)}`)
    .digest('hex')
  const chosen = chosenTenant(call)
  return {
    kind: `idempotency:${tenant}`,
    key: createHash('sha256').update(`${sub}\n${chosen}${given}`).digest('hex'),
    asked: { ...target, hash },
  }
}

/** Whoever acts for every tenant has keys of their own in each that they name in the query. */
function chosenTenant({ caller, query }: Call): string {
  const { tenant } = (query ?? {}) as { readonly tenant?: unknown }
  const isWide = caller.tenant === EVERY_TENANT
  return isWide && typeof tenant === 'string' ? `${tenant}\n` : ''
}

function recordOf({ kind, key, asked }: Key, answer: Answer, now: number): RecordWrite {
  const { status, body = null, headers } = answer
  const value = { asked, answer: { status, body, headers } }
  return { kind, key, value, expectedVersion: 0, expireAt: now + KEPT_MS }
}

async function stored({ kind, key }: Key, { engine }: Call): Promise<JsonObject | null> {
  const [record] = await engine.store.getRecords(kind, [key], engine.clock.now())
  return record ? (record.value as JsonObject) : null
}

function replay(before: JsonObject | null, { asked }: Key): Answer {
  if (before === null || (before.answer === null && jsonEqual(before.asked, asked))) {
    throw new HttpProblem('conflict', 'a request with this Idempotency-Key is under way')
  }
  if (!jsonEqual(before.asked, asked)) {
    const detail = 'this Idempotency-Key was used for another request'
    throw new HttpProblem('idempotency-key-reused', detail)
  }
  const { status, body, headers } = before.answer as unknown as Answer
  return new Answer(status, body, { ...headers, 'Idempotency-Replayed': 'true' })
}
