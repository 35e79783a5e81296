// The tasks that trigger() and triggerMany() enqueue: one run each, with a payload of its own.

import { refuse, SchedulerError, type Problem } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { runId, type NewJob } from '../core/job.ts'
import { toJson } from '../core/json/json-copy.ts'
import type { Json } from '../core/json.ts'
import { checkOptions, type Checks } from '../core/spec/option-check.ts'
import type { JobSpec } from '../core/spec.ts'
import type { Engine } from '../create-engine.ts'
import { taskId } from './identity.ts'
import { entryOptionChecks, triggerChecks, triggerManyChecks } from './option-checks.ts'
import type { AnyDefinition } from './options.ts'
import type { Policies } from './policies.ts'
import { rowSpec } from './rows.ts'
import { payloadProblems } from './schema.ts'
import { toMs, type Duration } from './time-input.ts'
import { at } from './when.ts'

export interface TriggerOptions {
  /** The same key makes the same run, however often it is asked for. */
  readonly idempotencyKey?: string
  readonly delay?: Duration
  readonly tenant?: string
  readonly user?: string
  readonly priority?: NonNullable<Policies['priority']>
}

/** One run of many: its input, and what differs from the options of the call. */
export interface TriggerEntry<I> extends TriggerOptions {
  readonly input: I
}

/** For all entries of one call; each entry may say otherwise. */
export type TriggerManyOptions = Omit<TriggerOptions, 'idempotencyKey'>

/** Entries in one call of triggerMany. */
export const TRIGGER_MANY_MAX = 100_000
/** Problems that one error names. */
const PROBLEMS_MAX = 100

const allTriggerChecks: Checks<TriggerOptions> = triggerChecks
const allEntryChecks: Checks<TriggerEntry<unknown>> = entryOptionChecks
const allManyChecks: Checks<TriggerManyOptions> = triggerManyChecks

export interface TaskContext {
  readonly definition: AnyDefinition
  readonly defaults: Policies
  readonly app: string
  readonly engine: Engine
}

export function refuseTriggerOptions(name: string, options: TriggerOptions): void {
  const found = new Findings()
  checkOptions(found, options, allTriggerChecks)
  refuse('SPEC_INVALID', `trigger of ${name} is not valid`, found.problems)
}

/** The stored payload of every entry; one error names the problems of all of them. */
export async function payloadsOfEntries(
  { name, options }: AnyDefinition,
  entries: readonly TriggerEntry<unknown>[],
  common: TriggerManyOptions,
): Promise<Json[]> {
  refuseEntries(name, entries, common)
  const problems: Problem[] = []
  const payloads: Json[] = []
  for (const [i, { input }] of entries.entries()) {
    const given = input === undefined ? options.payload : input
    const found: Problem[] = []
    const json = toJson(given, 'input', found)
    if (found.length === 0) found.push(...(await payloadProblems(options.input, json, given)))
    for (const problem of found) problems.push(atEntry(i, problem))
    if (problems.length >= PROBLEMS_MAX) break
    payloads.push(json)
  }
  const count = problems.length >= PROBLEMS_MAX ? `the first ${PROBLEMS_MAX} problems` : ''
  refuse('PAYLOAD_INVALID', `triggerMany of ${name} is not valid${count && `: ${count}`}`, problems)
  return payloads
}

function refuseEntries(
  name: string,
  entries: readonly TriggerEntry<unknown>[],
  common: TriggerManyOptions,
): void {
  const what = `triggerMany of ${name} is not valid`
  const found = new Findings()
  checkOptions(found, common, allManyChecks)
  if (!Array.isArray(entries)) found.add('entries', entries, 'a list of { input, … }')
  else if (entries.length > TRIGGER_MANY_MAX) {
    found.add('entries', entries.length, `at most ${TRIGGER_MANY_MAX} in one call`)
  }
  refuse('SPEC_INVALID', what, found.problems)
  for (const [i, entry] of entries.entries()) {
    checkOptions(found, entry, allEntryChecks, { field: `entries.${i}` })
    if (found.problems.length >= PROBLEMS_MAX) break
  }
  refuse('SPEC_INVALID', what, found.problems)
}

/** Schemas name fields `payload.…`; here they belong to an entry. */
function atEntry(i: number, problem: Problem): Problem {
  return { ...problem, field: `entries.${i}.${problem.field.replace(/^payload/, 'input')}` }
}

/** What an entry says for itself wins over what the call says for all. */
export function entryOptions(
  entry: TriggerEntry<unknown>,
  common: TriggerManyOptions,
): TriggerOptions {
  const { idempotencyKey } = entry
  const merged = {
    delay: entry.delay ?? common.delay,
    tenant: entry.tenant ?? common.tenant,
    user: entry.user ?? common.user,
    priority: entry.priority ?? common.priority,
    idempotencyKey,
  }
  return merged as TriggerOptions
}

/** Makes the task of one entry after another; specs that are the same are made once. */
export class TaskFactory {
  readonly #context: TaskContext
  /** Specs without a payload, by what entries may say for themselves. */
  readonly #specs = new Map<string, JobSpec>()

  constructor(context: TaskContext) {
    this.#context = context
  }

  make(payload: Json, options: TriggerOptions): NewJob {
    const { definition, app, engine } = this.#context
    const template = this.#specOf(options)
    const key = options.idempotencyKey ?? engine.ids.next(engine.clock.now())
    const { tenant } = template
    const id = taskId({ tenant, app, definition: definition.name, key })
    return { id, kind: 'task', spec: { ...template, payload } }
  }

  #specOf({ delay, tenant, user, priority }: TriggerOptions): JobSpec {
    const own = JSON.stringify([delay, tenant, user, priority])
    const known = this.#specs.get(own)
    if (known !== undefined) return known
    const { definition, defaults, engine } = this.#context
    const delayMs = delay === undefined ? 0 : toMs(delay, 'delay')
    const when = at(new Date(engine.clock.now() + delayMs))
    const options = { tenant, user, priority } as Policies
    const spec = rowSpec(definition, defaults, { ...options, when, payload: null })
    const made = {
      ...spec,
      first: 'next',
      overlap: { policy: 'skip' },
      retry: { ...spec.retry, exhausted: 'stop', yields: false },
    } as const
    this.#specs.set(own, made)
    return made
  }
}

/** Ids of the runs, in the order of the tasks. Throws when the queue took only some or none. */
export async function enqueue(engine: Engine, name: string, tasks: readonly NewJob[]) {
  const made = await engine.client.create(tasks)
  const ids = made.map(({ job }) => runId(job.id, 1))
  const refused = made.filter(({ result }) => result === 'full').length
  if (refused === 0) return ids
  const { queue } = tasks[0]!.spec
  const isAll = refused === made.length
  const what = isAll ? `${name} was not enqueued` : `${refused} of ${made.length} were not enqueued`
  throw new SchedulerError('QUEUE_FULL', `queue ${queue} is full: ${what}`, {
    details: { runs: ids.map((id, i) => (made[i]!.result === 'full' ? null : id)) },
  })
}
