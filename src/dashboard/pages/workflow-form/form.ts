// What the form of a workflow holds, and the way between it and the document of the service.

import type { SectionProps } from '../../forms/document-form.tsx'
import {
  fieldsOf,
  jsonIn,
  jsonText,
  listOf,
  numberIn,
  textOf,
  type Fields,
} from '../../forms/form-values.ts'
import { freshRowKey, keyed, without, type Keyed } from '../../forms/rows.tsx'

export interface EntryForm extends Keyed {
  readonly id: string
  readonly priority: string
  readonly active: boolean
  /** What the form does not show, as it was; so in all that follows. */
  readonly kept: Fields
}

export interface StepForm extends Keyed {
  readonly id: string
  readonly does: 'handler' | 'http'
  readonly handler: string
  readonly url: string
  readonly method: string
  readonly headers: string
  readonly timeout: string
  readonly keptCall: Fields
  /** By the keys of the steps, so that renaming one keeps what needs it. */
  readonly needs: readonly number[]
  /** Needs that no step answers to. */
  readonly stray: readonly string[]
  readonly input: string
  readonly kept: Fields
}

export interface WorkflowForm {
  /** Only of a new one, and only when its author wants a certain number. */
  readonly number: string
  readonly name: string
  readonly active: boolean
  readonly entries: readonly EntryForm[]
  readonly steps: readonly StepForm[]
  readonly kept: Fields
}

export type WorkflowSection = SectionProps<WorkflowForm>

const emptyStep: Omit<StepForm, 'key' | 'id'> = {
  does: 'handler',
  handler: '',
  url: '',
  method: 'POST',
  headers: '{}',
  timeout: '30',
  keptCall: {},
  needs: [],
  stray: [],
  input: '',
  kept: {},
}

/** What a new one begins with. */
export const newWorkflow: Fields = {
  name: '',
  active: true,
  trigger_nodes: [{}],
  steps: [{ id: 'first', handler: '' }],
}

export function formOf(document: Fields): WorkflowForm {
  const { id, name, active, trigger_nodes, steps, ...kept } = document
  return {
    number: textOf(id, ''),
    name: textOf(name, ''),
    active: active !== false,
    entries: keyed(listOf(trigger_nodes).map(entryOf)),
    steps: stepsOf(listOf(steps)),
    kept,
  }
}

function entryOf(given: unknown): Omit<EntryForm, 'key'> {
  const { id, priority, active, ...kept } = fieldsOf(given)
  return { id: textOf(id, ''), priority: textOf(priority, '3'), active: active !== false, kept }
}

function stepsOf(given: readonly unknown[]): readonly StepForm[] {
  const ids = given.map(step => textOf(fieldsOf(step).id, ''))
  return keyed(given.map(stepOf)).map((step, at) => {
    const needs = listOf(fieldsOf(given[at]).needs).map(String)
    const known = needs.filter(need => ids.includes(need))
    return {
      ...step,
      needs: known.map(need => ids.indexOf(need) + 1),
      stray: needs.filter(need => !ids.includes(need)),
    }
  })
}

function stepOf(given: unknown): Omit<StepForm, 'key'> {
  const { id, needs: _needs, handler, http, input, ...kept } = fieldsOf(given)
  const { url, method, headers, timeout_seconds, ...keptCall } = fieldsOf(http)
  return {
    id: textOf(id, ''),
    does: http === undefined ? 'handler' : 'http',
    handler: textOf(handler, ''),
    url: textOf(url, ''),
    method: textOf(method, emptyStep.method),
    headers: jsonText(headers ?? {}),
    timeout: textOf(timeout_seconds, emptyStep.timeout),
    keptCall,
    needs: [],
    stray: [],
    input: input === undefined ? '' : jsonText(input),
    kept,
  }
}

/** What is sent; whether it is right is for the service to say. */
export function bodyOf({ number, name, active, entries, steps, kept }: WorkflowForm): Fields {
  return {
    ...kept,
    ...(number.trim() === '' ? {} : { id: numberIn(number) }),
    name,
    active,
    trigger_nodes: entries.map(entry => ({
      ...entry.kept,
      ...(entry.id.trim() === '' ? {} : { id: entry.id }),
      priority: numberIn(entry.priority),
      active: entry.active,
    })),
    steps: steps.map(step => stepBody(step, steps)),
  }
}

/** The names of the steps it needs. */
export function needsOf(step: StepForm, steps: readonly StepForm[]): readonly string[] {
  const named = step.needs.flatMap(key => steps.find(one => one.key === key)?.id ?? [])
  return [...named, ...step.stray]
}

function stepBody(step: StepForm, steps: readonly StepForm[]): Fields {
  const { url, method, timeout } = step
  const call = {
    ...step.keptCall,
    url,
    method,
    headers: jsonIn(step.headers),
    timeout_seconds: numberIn(timeout),
  }
  return {
    ...step.kept,
    id: step.id,
    needs: needsOf(step, steps),
    ...(step.does === 'handler' ? { handler: step.handler } : { http: call }),
    ...(step.input.trim() === '' ? {} : { input: jsonIn(step.input) }),
  }
}

/** Every name that a field of the form shows the rules of. */
export function shownIn({ entries, steps }: WorkflowForm): string[] {
  const ofEntry = ['id', 'priority']
  const ofStep = ['id', 'needs', 'handler', 'input']
  const ofCall = ['http.url', 'http.method', 'http.headers', 'http.timeout_seconds']
  return [
    'id',
    'name',
    ...entries.flatMap((_entry, i) => ofEntry.map(name => `trigger_nodes.${i}.${name}`)),
    ...steps.flatMap((_step, i) => [...ofStep, ...ofCall].map(name => `steps.${i}.${name}`)),
  ]
}

export function addEntry(entries: readonly EntryForm[]): readonly EntryForm[] {
  return [...entries, { ...entryOf({}), key: freshRowKey(entries) }]
}

/** A new step follows the last one, unless its author says otherwise. */
export function addStep(steps: readonly StepForm[]): readonly StepForm[] {
  const taken = new Set(steps.map(({ id }) => id))
  let n = steps.length + 1
  while (taken.has(`step-${n}`)) n++
  const needs = steps.slice(-1).map(({ key }) => key)
  return [...steps, { ...emptyStep, key: freshRowKey(steps), id: `step-${n}`, needs }]
}

export function removeStep(steps: readonly StepForm[], at: number): readonly StepForm[] {
  const { key } = steps[at]!
  const left = without(steps, at)
  return left.map(step => ({ ...step, needs: step.needs.filter(need => need !== key) }))
}
