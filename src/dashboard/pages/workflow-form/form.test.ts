// The form of a workflow: what it sends is what it was filled from, and needs follow their step.

import { describe, expect, it } from 'vitest'
import { replaced } from '../../forms/rows.tsx'
import { addEntry, addStep, bodyOf, formOf, newWorkflow, removeStep, shownIn } from './form.ts'

const document = {
  name: 'Orders',
  active: false,
  trigger_nodes: [{ id: 'a', kind: 'schedule', priority: 5, active: true }],
  steps: [
    { id: 'load', needs: [], handler: 'orders.load', input: { day: { $from: 'event.day' } } },
    {
      id: 'tell',
      needs: ['load', 'gone'],
      http: {
        kind: 'http',
        url: 'https://example.com',
        method: 'PUT',
        headers: { Authorization: '***' },
        timeout_seconds: 10,
        body: { done: true },
        secrets: ['***'],
      },
    },
  ],
}

describe('the form of a workflow', () => {
  it('sends back what it was filled from, also what it does not show', () => {
    expect(bodyOf(formOf(document))).toEqual(document)
    const odd = { ...document, colour: 'red', steps: [{ ...document.steps[0], retries: 3 }] }
    expect(bodyOf(formOf(odd))).toEqual(odd)
  })

  it('leaves out what nobody wrote in a new one', () => {
    expect(bodyOf(formOf(newWorkflow))).toEqual({
      name: '',
      active: true,
      trigger_nodes: [{ priority: 3, active: true }],
      steps: [{ id: 'first', needs: [], handler: '' }],
    })
    expect(bodyOf({ ...formOf(newWorkflow), number: 'x' })).toMatchObject({ id: 'x' })
  })

  it('keeps what needs a step while it is renamed, and forgets it when it goes', () => {
    const { steps, ...rest } = formOf(document)
    const sent = (of: typeof steps) => bodyOf({ ...rest, steps: of }).steps
    const renamed = replaced(replaced(steps, 0, { id: '' }), 0, { id: 'fetch' })
    expect(sent(renamed)).toMatchObject([{ id: 'fetch' }, { needs: ['fetch', 'gone'] }])
    expect(sent(removeStep(steps, 0))).toMatchObject([{ id: 'tell', needs: ['gone'] }])
  })

  it('puts a new step behind the last one, under a name that is free', () => {
    const { steps, entries } = formOf(document)
    const added = addStep(addStep(replaced(steps, 0, { id: 'step-3' })))
    expect(added.map(({ id }) => id)).toEqual(['step-3', 'tell', 'step-4', 'step-5'])
    expect(added.at(-1)?.needs).toEqual([added.at(-2)?.key])
    expect(addEntry(entries).map(({ key }) => key)).toEqual([1, 2])
  })

  it('takes whatever a text says', () => {
    expect(bodyOf(formOf({ name: 7, steps: 'none', trigger_nodes: [3] }))).toMatchObject({
      name: '7',
      steps: [],
      trigger_nodes: [{ priority: 3, active: true }],
    })
  })

  it('names every field that shows its own rules', () => {
    const names = shownIn(formOf(document))
    expect(names).toEqual(expect.arrayContaining(['steps.1.http.url', 'trigger_nodes.0.priority']))
    expect(names).not.toContain('steps.1')
  })
})
