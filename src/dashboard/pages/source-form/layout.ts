// How the form of a source is laid out. Which fields it has is for the schema of the service to say.

import type { Layout } from '../../forms/layout.ts'
import { headerLooks, paramLooks } from '../../forms/request-looks.ts'
import { ScheduleField } from './schedule-field.tsx'

export const sourceLayout: Layout = {
  sections: [
    { title: null, fields: ['name', 'table', 'status', 'description'] },
    { title: 'Request', fields: ['url'] },
    { title: null, fields: ['params', 'headers'] },
    { title: 'Pages', fields: ['offsetPagination', 'cursorPagination'] },
    { title: 'Answer', fields: ['response'] },
    { title: 'When', fields: ['schedule', 'execution'] },
  ],
  folded: null,
  either: {
    '': {
      label: 'How pages are asked for',
      options: [
        ['', 'One page'],
        ['offsetPagination', 'By number'],
        ['cursorPagination', 'By a cursor'],
      ],
    },
  },
  looks: {
    name: {
      placeholder: 'exchange-rates',
      hint: 'It cannot be changed later.',
      isHidden: ({ isNew }) => !isNew,
    },
    table: {
      placeholder: 'exchange_rates',
      isMono: true,
      hint: 'Created with the first page, if it is not there.',
    },
    status: {
      label: 'State',
      options: [
        ['active', 'active'],
        ['inactive', 'inactive'],
      ],
    },
    url: {
      label: 'Address',
      type: 'url',
      isWide: true,
      placeholder: 'https://api.example.com/v1/items',
      hint: 'Fetched with GET. Internal hosts need CARILLON_ALLOW_HOSTS.',
    },
    ...paramLooks('params'),
    ...headerLooks('headers'),
    'response.dataPath': {
      label: 'Path of the records',
      isMono: true,
      isWide: true,
      hint: 'Where the list is, such as data.items; . when the answer itself is the list.',
    },
    'response.fields': {
      item: 'field',
      hint: 'Which part of a record goes to which column.',
      initial: [{}],
    },
    'response.fields.*.source': { label: 'From', placeholder: 'price.amount', isMono: true },
    'response.fields.*.target': { label: 'To column', placeholder: 'price', isMono: true },
    'offsetPagination.pageParam': { label: 'Parameter of the page', initial: 'page' },
    'offsetPagination.counts': {
      label: 'It counts',
      options: [
        ['pages', 'pages: 1, 2, 3'],
        ['records', 'records: 0, 100, 200'],
      ],
    },
    'offsetPagination.limit': { label: 'Records in a page', initial: 100 },
    'offsetPagination.limitParam': { label: 'Parameter of their number', placeholder: 'none' },
    'offsetPagination.first': { label: 'First value', hint: 'Empty: 1 for pages, 0 for records.' },
    'offsetPagination.hasMorePath': {
      label: 'Path that says there is more',
      placeholder: 'meta.has_more',
      hint: 'Empty: the first page that is not full is the last.',
    },
    'cursorPagination.nextCursorPath': {
      label: 'Path of the next cursor',
      placeholder: 'meta.next',
    },
    'cursorPagination.cursorParam': {
      label: 'Parameter of the cursor',
      placeholder: 'none: what is found is a link',
    },
    schedule: { widget: ScheduleField },
    'execution.timeout': { label: 'Stops after (seconds)' },
    'execution.maxRetries': { label: 'Failures before it waits' },
    'execution.retryResetPeriod': {
      label: 'Counted within',
      placeholder: '1d',
      hint: '6h, 1d, 7d from the first failure; then the count is 0.',
    },
  },
}
