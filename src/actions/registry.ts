// The kinds of actions a node knows: checked when a job is made, one handler for each.

import { z, type ZodType } from 'zod'
import { ACTION_PREFIX, isActionName, isGenuineAction, payloadWithin } from '../core/action-name.ts'
import { refuse, type Problem } from '../core/errors.ts'
import { jsonEqual, type Json, type JsonObject } from '../core/json.ts'
import type { Job } from '../core/job.ts'
import type { JobSpec } from '../core/spec.ts'
import type { Context } from '../engine/context.ts'
import type { Handler } from '../engine/handlers.ts'
import { NoRetry } from '../engine/verdicts.ts'
import { MASK, type Action, type ActionSettings, type Author, type Reader } from './action.ts'
import { ruleText } from './rule-text.ts'

type Stored = Pick<JobSpec, 'handler' | 'payload'>
type ActionSpec = Pick<JobSpec, 'handler' | 'isAction' | 'payload'>

export interface Checked {
  /** With defaults filled in; null when anything is wrong. */
  readonly action: ActionSettings | null
  readonly problems: readonly Problem[]
}

export class Registry {
  readonly #actions = new Map<string, Action>()

  /** A kind that is already known is replaced. */
  add<S extends { readonly kind: string }>(action: Action<S>): this {
    // Each kind checks what it is given by its own schema before it takes it for its own.
    this.#actions.set(action.kind, action)
    return this
  }

  get kinds(): readonly string[] {
    return [...this.#actions.keys()]
  }

  /** Settings of any known kind, told apart by `kind`: for documents made from schemas. */
  get schema(): ZodType<ActionSettings> {
    const [first, ...rest] = [...this.#actions.values()].map(action => action.schema)
    return z.union([first!, ...rest])
  }

  /** By the name that a job's spec carries, such as `action:http`. */
  get handlers(): ReadonlyMap<string, Handler> {
    return new Map(
      [...this.#actions.values()]
        .filter(action => action.isAllowed)
        .map(action => [ACTION_PREFIX + action.kind, this.#handlerOf(action)]),
    )
  }

  #handlerOf(action: Action): Handler {
    const handler = (context: Context) => this.#perform(action, context)
    if (action.resource === undefined) return handler
    const resourceOf = ({ spec }: Job) => {
      const stored = spec.isAction ? this.read(spec) : null
      // What is not valid fails when it is performed.
      const parsed = stored === null ? null : action.schema.safeParse(stored.action)
      return parsed?.success ? action.resource!(parsed.data, spec.tenant) : null
    }
    return Object.assign(handler, { resourceOf })
  }

  /** Everything wrong with what a caller sent, each with the path of its field. */
  check(given: unknown, field = 'action', author?: Pick<Author, 'tenant'>): Checked {
    const kind = kindOf(given)
    const action = kind === null ? undefined : this.#actions.get(kind)
    if (action === undefined) {
      const rule = `must be an object whose kind is one of ${this.kinds.join(', ')}`
      const at = kind === null ? field : `${field}.kind`
      return { action: null, problems: [{ field: at, value: kind ?? typeof given, rule }] }
    }
    const parsed = action.schema.safeParse(given)
    if (!parsed.success) return { action: null, problems: issuesOf(parsed.error, given, field) }
    const problems = action.check(parsed.data, field, author)
    return { action: problems.length === 0 ? parsed.data : null, problems }
  }

  /** Why this author may not make a job do this; null when they may. */
  refusal({ kind }: ActionSettings, author: Author): string | null {
    return this.#actions.get(kind)?.refusal?.(author) ?? null
  }

  /** The parts of a spec that make a job do this. Runs ask again who made it, where it matters. */
  specOf(action: ActionSettings, payload: Json, author: Author | null = null): ActionSpec {
    const isMarked = author?.isOfEveryTenant === true && this.#isLimited(action)
    const mark = isMarked ? { [MADE_BY]: EVERYONE } : {}
    const stored = { action, payload, ...mark }
    return { handler: ACTION_PREFIX + action.kind, isAction: true, payload: stored }
  }

  /** Other parts for the same action, made by whoever made it before. */
  withPayload(spec: JobSpec, action: ActionSettings, payload: Json): ActionSpec {
    return this.specOf(action, payload, authorOf(spec))
  }

  #isLimited({ kind }: ActionSettings): boolean {
    return this.#actions.get(kind)?.refusal !== undefined
  }

  /** What a stored job does; null when it calls a handler of its own. */
  read({ handler, payload }: Stored): { action: ActionSettings; payload: Json } | null {
    if (!isActionName(handler) || !isWrapped(payload)) return null
    return { action: payload.action, payload: payload.payload ?? null }
  }

  /** Settings for a reader: without secrets. */
  shown(action: ActionSettings, reader: Reader): ActionSettings {
    const known = this.#actions.get(action.kind)
    try {
      return known ? known.shown(action, reader) : { kind: action.kind }
    } catch {
      // Stored before settings were checked: where its secrets are is not known.
      return { kind: action.kind }
    }
  }

  /** The payload of a row for a reader: that of an action without its secrets. */
  shownPayload(spec: Stored, reader: Reader): Json {
    const stored = this.read(spec)
    if (stored !== null) return { ...stored, action: this.shown(stored.action, reader) }
    return isActionName(spec.handler) ? null : spec.payload
  }

  /** An edit made from what was shown keeps the secrets it could not see. */
  withStored(given: unknown, stored: ActionSettings): unknown {
    return kindOf(given) === stored.kind ? unmasked(given, stored, this.#shownToAll(stored)) : given
  }

  #shownToAll(stored: ActionSettings): ActionSettings {
    return this.shown(stored, { mayEdit: false })
  }

  /**
   * What a caller gives a run of this row to work on. The payload of the row sent back as it was
   * shown to them means the stored one: the mask is never taken for a value.
   */
  givenPayload(spec: Stored, given: Json, reader: Reader): Json {
    const stored = this.read(spec)
    if (stored === null || !isWrapped(given)) return given
    const isShown = jsonEqual(given.action, this.shown(stored.action, reader))
    const whole = unmasked(given.action, stored.action, this.#shownToAll(stored.action))
    const isStored = isShown || jsonEqual(whole, stored.action)
    if (isStored) return given.payload ?? null
    const masked = maskedPath(given.action, 'payload.action')
    const problems = masked === null ? [] : [{ field: masked, value: MASK, rule: SENT_BACK_RULE }]
    refuse('PAYLOAD_INVALID', 'the payload of the run is not valid', problems)
    return given
  }

  #perform(action: Action, context: Context): Promise<Json> {
    const stored = isGenuineAction(context.job) ? this.read(context.job.spec) : null
    const parsed = action.schema.safeParse(stored?.action)
    const problems = parsed.success ? action.check(parsed.data, 'action') : []
    const refusal = action.refusal?.(authorOf(context.job.spec)) ?? null
    if (refusal !== null) throw new NoRetry(refusal)
    if (stored === null || !parsed.success || problems.length > 0) {
      const why = problems.map(({ field, rule }) => `${field} ${rule}`).join('; ')
      throw new NoRetry(`the stored ${action.kind} action is not allowed here: ${why || 'invalid'}`)
    }
    // A run asked for with a payload of its own gets that payload, but the stored settings: whoever
    // may run a job may not choose what it calls.
    const payload = payloadWithin(stored, context.payload)
    return action.perform(parsed.data, { context, payload })
  }
}

/** In the stored form, beside the action: an admin of every tenant made it. */
const MADE_BY = 'madeBy'
const EVERYONE = '*'

function authorOf({ tenant, payload }: Pick<JobSpec, 'tenant' | 'payload'>): Author {
  return { tenant, isOfEveryTenant: isObject(payload) && payload[MADE_BY] === EVERYONE }
}

function isWrapped(value: Json): value is JsonObject & { action: ActionSettings; payload: Json } {
  return isObject(value) && kindOf(value.action) !== null
}

function kindOf(value: unknown): string | null {
  if (!isObject(value) || !Object.hasOwn(value, 'kind')) return null
  return typeof value.kind === 'string' ? value.kind : null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const SENT_BACK_RULE =
  'must not be the mask: a run has the stored settings of its action; give only what it works on'

/** Where settings hold the mask, whole or in a text. */
function maskedPath(value: Json, path: string): string | null {
  if (typeof value === 'string') return value.includes(MASK) ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, item] of Object.entries(value)) {
    const found = maskedPath(item, `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}

/** `shown` is what readers who may not edit see of `stored`: a text may be masked in part. */
function unmasked(given: unknown, stored: unknown, shown: unknown): unknown {
  if (typeof given === 'string') {
    const isMasked = given === MASK || (given === shown && given.includes(MASK))
    return isMasked ? (stored ?? given) : given
  }
  if (Array.isArray(given)) {
    return given.map((one, i) => unmasked(one, itemOf(stored, i), itemOf(shown, i)))
  }
  if (!isObject(given)) return given
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      unmasked(value, memberOf(stored, key), memberOf(shown, key)),
    ]),
  )
}

function itemOf(list: unknown, i: number): unknown {
  return Array.isArray(list) ? (list as readonly unknown[])[i] : undefined
}

function memberOf(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** Values below these keys may be secrets and are not repeated. */
const secretKeys = ['headers', 'params', 'secrets', 'env', 'stdin']

function issuesOf(error: z.ZodError, given: unknown, field: string): Problem[] {
  return error.issues.flatMap(({ path, message, ...issue }) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null]
    return keys.map(key => {
      const full = key === null ? path : [...path, key]
      return {
        field: [field, ...full.map(String)].join('.'),
        value: secretKeys.includes(String(full[0])) ? MASK : valueAt(given, full),
        rule: key === null ? ruleText(message) : 'is not known',
      }
    })
  })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    return (value as Record<PropertyKey, unknown>)[key]
  }, given)
}
