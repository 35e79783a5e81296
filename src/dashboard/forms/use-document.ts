// One document in two forms: fields to fill in, and text. Whoever changes the tab takes along what was
// written, or is told why it cannot be read.

import { useState } from 'preact/hooks'
import { ApiProblem, problemFrom, type FieldProblem } from '../data/problem.ts'
import type { Fields } from './form-values.ts'
import { readIn, written, type Way } from './document-text.ts'

/** How a kind of document is shown as a form. */
export interface Shape<F> {
  /** Takes whatever the text says; what it does not know it keeps. */
  readonly formOf: (document: Fields) => F
  readonly bodyOf: (form: F) => Fields
  /** Names of what the fields of a form show the rules of. */
  readonly shownIn: (form: F) => readonly string[]
  /** What would be lost on the way to the service. */
  readonly faultsOf?: (form: F) => readonly FieldProblem[]
}

export type Tab = 'form' | Way

export interface Document<F> {
  readonly form: F
  readonly setForm: (form: F) => void
  readonly tab: Tab
  readonly choose: (tab: Tab) => void
  readonly text: string
  readonly setText: (text: string) => void
  /** Why the tab was not left. */
  readonly fault: ApiProblem | null
  /** What it says now; throws when that cannot be read. */
  readonly body: () => Promise<Fields>
}

export function useDocument<F>(shape: Shape<F>, start: Fields): Document<F> {
  const [form, setForm] = useState<F>(() => shape.formOf(start))
  const [tab, setTab] = useState<Tab>('form')
  const [text, setText] = useState('')
  const [fault, setFault] = useState<ApiProblem | null>(null)
  const body = async (): Promise<Fields> => {
    if (tab !== 'form') return readIn(text, tab)
    const errors = shape.faultsOf?.(form) ?? []
    if (errors.length > 0) throw new ApiProblem(422, { detail: 'Nothing was sent.', errors })
    return shape.bodyOf(form)
  }
  const choose = async (next: Tab) => {
    try {
      const now = await body()
      if (next === 'form') setForm(shape.formOf(now))
      else setText(await written(now, next))
      setTab(next)
      setFault(null)
    } catch (error) {
      setFault(problemFrom(error))
    }
  }
  /** What is written anew is no longer what could not be read. */
  const anew =
    <V>(set: (value: V) => void) =>
    (value: V) => {
      setFault(null)
      set(value)
    }
  return {
    form,
    setForm: anew(setForm),
    tab,
    choose: next => void (next === tab || choose(next)),
    text,
    setText: anew(setText),
    fault,
    body,
  }
}
