// Everything wrong with a workflow, told at once; without problems, the workflow with defaults.

import type { z } from 'zod'
import { ruleText } from '../actions/rule-text.ts'
import type { Author } from '../actions/action.ts'
import type { Registry } from '../actions/registry.ts'
import type { HttpSettings } from '../actions/http/settings.ts'
import { isBodiless } from '../actions/http/settings.ts'
import { isActionName } from '../core/spec/action-name.ts'
import type { Problem } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import type { Json } from '../core/json.ts'
import { cyclesOf, reachOf, type Link } from './graph.ts'
import { referencesIn } from './references.ts'
import { workflowShape } from './shape.ts'
import { workflowLimits, type Entry, type Step } from './workflow.ts'
import type { WorkflowSpec } from './workflow.ts'

export interface CheckedWorkflow {
  /** Null when anything is wrong. */
  readonly spec: (WorkflowSpec & { readonly id: number | null }) | null
  readonly problems: readonly Problem[]
}

/** `calls` knows the http action: it says where a step may call, and which secrets the author has. */
export function checkWorkflow(
  written: unknown,
  calls: Registry,
  author?: Pick<Author, 'tenant'>,
): CheckedWorkflow {
  const size = sizeProblems(written)
  if (size.length > 0) return { spec: null, problems: size }
  // From here on it is what will be stored: plain JSON.
  const given = JSON.parse(JSON.stringify(written)) as unknown
  const parsed = workflowShape.safeParse(given)
  const problems = parsed.success ? [] : shapeProblems(parsed.error, given)
  const steps = looseSteps(given)
  problems.push(...entryProblems(given), ...linkProblems(steps))
  const http = steps.map((step, i) => checkStep(step, i, { steps, calls, author, problems }))
  if (!parsed.success || problems.length > 0) return { spec: null, problems }
  const { id, name, active, entries } = parsed.data
  return {
    spec: {
      id: id ?? null,
      name,
      active,
      entries: named(entries ?? [{ kind: 'schedule', priority: 3, active: true }]),
      steps: parsed.data.steps.map((step, i) => stepOf(step, http[i] ?? null)),
    },
    problems,
  }
}

type StepShape = z.output<typeof workflowShape>['steps'][number]

function stepOf({ id, needs, handler, input }: StepShape, http: HttpSettings | null): Step {
  const does = http === null ? { handler: handler! } : { http }
  return { id, needs, ...does, ...(input === undefined ? {} : { input: input as Json }) }
}

/** Bounded before anything walks it. */
function sizeProblems(given: unknown): readonly Problem[] {
  const found = new Findings()
  if (!isObject(given)) found.add('workflow', given, 'an object')
  else if (depthOf(given, 0) > workflowLimits.depth) {
    found.add('workflow', typeof given, `at most ${workflowLimits.depth} levels deep`)
  } else found.json('workflow', given, workflowLimits.bytes)
  return found.problems
}

function depthOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > workflowLimits.depth) return depth
  let deepest = depth + 1
  for (const item of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(item, depth + 1))
    if (deepest > workflowLimits.depth) break
  }
  return deepest
}

function shapeProblems(error: z.ZodError, given: unknown): Problem[] {
  return error.issues.flatMap(issue => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null]
    return keys.map(key => {
      const path = key === null ? issue.path : [...issue.path, key]
      const rule = key === null ? ruleText(issue.message) : 'is not known'
      return { field: path.map(String).join('.'), value: valueAt(given, path), rule }
    })
  })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    return (value as Record<PropertyKey, unknown>)[key]
  }, given)
}

/** What can be read of the steps even when their shape is wrong, so that all is told at once. */
interface LooseStep extends Link {
  /** Null for what is no object at all. */
  readonly given: Readonly<Record<string, unknown>> | null
}

function looseSteps(given: unknown): LooseStep[] {
  const list = valueAt(given, ['steps'])
  if (!Array.isArray(list)) return []
  return list.slice(0, workflowLimits.steps).map((one: unknown) => {
    if (!isObject(one)) return { given: null, id: '', needs: [] }
    const needs = Array.isArray(one.needs) ? one.needs.filter(isText) : []
    return { given: one, id: isText(one.id) ? one.id : '', needs }
  })
}

function entryProblems(given: unknown): Problem[] {
  const list = valueAt(given, ['entries'])
  const ids = Array.isArray(list) ? list.map(entry => valueAt(entry, ['id'])) : []
  return repeated(ids).map(i => ({
    field: `entries.${i}.id`,
    value: ids[i],
    rule: 'must be different from the ids of the other entries',
  }))
}

function linkProblems(steps: readonly LooseStep[]): Problem[] {
  const ids = steps.map(step => step.id)
  const known = new Set(ids)
  const problems: Problem[] = repeated(ids).map(i => ({
    field: `steps.${i}.id`,
    value: ids[i],
    rule: 'must be different from the ids of the other steps',
  }))
  for (const [i, { needs }] of steps.entries()) {
    for (const [j, need] of needs.entries()) {
      if (known.has(need)) continue
      problems.push({ field: `steps.${i}.needs.${j}`, value: need, rule: 'must name a step' })
    }
  }
  for (const cycle of cyclesOf(steps)) {
    const i = ids.indexOf(cycle[0]!)
    const rule = `must not lead back to the step itself: ${cycle.join(' needs ')}`
    problems.push({ field: `steps.${i}.needs`, value: steps[i]!.needs, rule })
  }
  return problems
}

/** The places of values that stood there before; what is absent is not counted. */
function repeated(values: readonly unknown[]): number[] {
  return values.flatMap((value, i) =>
    isText(value) && value !== '' && values.indexOf(value) < i ? [i] : [],
  )
}

interface StepCheck {
  readonly steps: readonly LooseStep[]
  readonly calls: Registry
  readonly author: Pick<Author, 'tenant'> | undefined
  readonly problems: Problem[]
}

/** Adds what is wrong; the settings of its call with defaults, where it makes one. */
function checkStep(step: LooseStep, i: number, check: StepCheck): HttpSettings | null {
  const { given } = step
  if (given === null) return null
  const { problems } = check
  const add = (field: string, value: unknown, rule: string) =>
    problems.push({ field: `steps.${i}${field}`, value, rule })
  const hasHttp = given.http !== undefined
  if ((given.handler !== undefined) === hasHttp) {
    add('', Object.keys(given), 'must have exactly one of handler and http')
  }
  if (isText(given.handler) && isActionName(given.handler)) {
    add('.handler', given.handler, 'must name a handler of its own, not that of an action')
  }
  if (given.input !== undefined) {
    problems.push(...inputProblems(given.input as Json, step, i, check.steps))
  }
  if (!hasHttp) return null
  const call = isObject(given.http) ? { kind: 'http', ...given.http } : given.http
  const checked = check.calls.check(call, `steps.${i}.http`, check.author)
  problems.push(...checked.problems)
  if (checked.action === null) return null
  const http = checked.action as unknown as HttpSettings
  if (given.input !== undefined && isBodiless(http.method)) {
    add('.input', http.method, `must be absent with ${http.method}, which sends no body`)
  } else if (given.input !== undefined && http.body !== undefined) {
    add('.input', given.input, 'must be absent when http.body says what is sent')
  }
  return http
}

function inputProblems(
  input: Json,
  step: LooseStep,
  i: number,
  steps: readonly LooseStep[],
): Problem[] {
  const field = (at: readonly string[]) => [`steps.${i}.input`, ...at].join('.')
  const { found, wrong } = referencesIn(input)
  const problems: Problem[] = wrong.map(({ at, rule }) => ({
    field: field(at),
    value: valueAt(input, at),
    rule,
  }))
  const reach = reachOf(steps, step.id)
  for (const { at, path } of found) {
    const [root, id] = path
    const isKnown = root === 'event' || (root === 'steps' && id !== undefined && reach.has(id))
    if (isKnown) continue
    const rule = 'must begin with event, or with steps and a step that this one needs'
    problems.push({ field: field([...at, '$from']), value: path.join('.'), rule })
  }
  return problems
}

type EntryShape = Omit<Entry, 'id'> & { readonly id?: string | undefined }

/** Entries without an id get the first free one in their order. */
function named(entries: readonly EntryShape[]): Entry[] {
  const taken = new Set(entries.map(entry => entry.id))
  return entries.map(entry => {
    if (entry.id !== undefined) return { ...entry, id: entry.id }
    let n = 1
    while (taken.has(`schedule-${n}`)) n++
    const id = `schedule-${n}`
    taken.add(id)
    return { ...entry, id }
  })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
