// How the form of a workflow is laid out. Which fields it has is for the schema of the service to say.

import { HandlerField } from '../../forms/handler-field.tsx'
import type { Layout } from '../../forms/layout.ts'
import { callLooks } from '../../forms/request-looks.ts'
import { NeedsField } from './needs-field.tsx'
import { StepsField } from './steps-field.tsx'

export const workflowLayout: Layout = {
  sections: [
    { title: null, fields: ['name', 'id', 'active'] },
    { title: null, fields: ['steps', 'trigger_nodes'] },
  ],
  folded: null,
  either: {
    'steps.*': {
      label: 'What it does',
      options: [
        ['handler', 'Handler'],
        ['http', 'Request'],
      ],
    },
  },
  looks: {
    id: {
      label: 'Number',
      placeholder: 'the next free one',
      hint: 'By which schedules name it.',
      isHidden: ({ isNew }) => !isNew,
    },
    active: { label: 'Active: it may be run' },
    steps: { item: 'step', widget: StepsField },
    'steps.*.needs': { label: 'Waits for', widget: NeedsField },
    'steps.*.handler': { isRequired: true, widget: HandlerField },
    ...callLooks('steps.*.http'),
    'steps.*.input': {
      placeholder: '{"order": {"$from": "event.payload.order"}}',
      hint: 'Empty: the payload of the event. $from takes a value of the event or of a step before.',
    },
    trigger_nodes: {
      label: 'Where events come in',
      item: 'entry',
      hint: 'Schedules hand their event to the active entry with the highest priority.',
    },
    'trigger_nodes.*.id': { placeholder: 'given by itself' },
  },
}
