// How the form of a job is laid out. Which fields it has is for the schema of the service to say.

import { HandlerField } from '../../forms/handler-field.tsx'
import type { FormContext, Layout, Look } from '../../forms/layout.ts'
import type { VariantsDraft } from '../../forms/draft.ts'
import { callLooks } from '../../forms/request-looks.ts'
import { seesEveryTenant } from '../../data/session.ts'
import { localZone } from '../../view.ts'
import { TimezoneField } from './timezone-field.tsx'

/** Whether the job runs once or on demand: then there is no next firing to go on with. */
const isSingle = ({ root }: FormContext): boolean =>
  ['at', 'manual'].includes((root.fields.trigger as VariantsDraft).chosen)

const triggerLooks: Readonly<Record<string, Look>> = {
  trigger: {
    label: 'Kind of schedule',
    isRequired: true,
    isSegments: true,
    options: [
      ['every', 'Every'],
      ['cron', 'Cron'],
      ['at', 'Once'],
      ['manual', 'On demand'],
    ],
  },
  'trigger.every': {
    placeholder: '30m',
    initial: '1h',
    hint: '30s, 15m, 6h, 1d. A day is 24 hours; for the same time each day use cron.',
  },
  'trigger.from': {
    label: 'Counted',
    initial: 'schedule',
    options: [
      ['schedule', 'on a fixed grid'],
      ['start', 'from start to start'],
      ['finish', 'from the end of the run'],
    ],
  },
  'trigger.anchor': { hint: 'A time of the grid. Empty: the time the job is created.' },
  'trigger.cron': { label: 'Cron expression', initial: '0 7 * * 1-5', isMono: true },
  'trigger.timezone': { initial: localZone, widget: TimezoneField },
  'trigger.dialect': {
    initial: 'extended',
    options: [
      ['extended', 'extended: seconds, L, W, #'],
      ['posix', 'POSIX, as crontab has it'],
    ],
  },
  'trigger.dst': { label: 'Own rule for clock changes' },
  'trigger.dst.gap': {
    label: 'Skipped hour',
    options: [
      ['shift', 'run after the gap'],
      ['skip', 'do not run'],
    ],
  },
  'trigger.dst.fold': {
    label: 'Repeated hour',
    options: [
      ['first', 'run the first time'],
      ['both', 'run both times'],
    ],
  },
  'trigger.at': { label: `At (${localZone})` },
}

const workLooks: Readonly<Record<string, Look>> = {
  ...callLooks('action'),
  'action.depth': { label: 'Links deep' },
  'action.pages': { label: 'Pages at most' },
  'action.source': { label: 'Label', hint: 'By which its pages are found.' },
  'action.hosts': {
    options: [
      ['same', 'the same host'],
      ['subdomains', 'the host and those below it'],
    ],
  },
  'action.delay_ms': { label: 'Pause between requests (ms)' },
  'action.argv': {
    label: 'Program and arguments',
    isMono: true,
    isWide: true,
    hint: 'Separated by commas, or a JSON list; instead of a command line.',
  },
  'action.shell': {
    label: 'Command line',
    isMono: true,
    lines: 2,
    hint: 'Runs in a shell on the node, if it was started with --allow-commands.',
  },
  'action.cwd': { label: 'Folder', isMono: true },
  'action.env': { label: 'Environment', item: 'variable' },
  'action.stdin': { label: 'Input', lines: 2, hint: 'Empty: the payload as JSON.' },
  'action.workflow_id': { label: 'Workflow id' },
  'action.trigger_node_id': {
    label: 'Entry',
    hint: 'Empty: the active one of the highest priority.',
  },
  'action.owner': { label: 'On behalf of' },
  handler: { isRequired: true, widget: HandlerField },
  payload: { label: 'Payload (JSON)', lines: 4 },
}

const failureLooks: Readonly<Record<string, Look>> = {
  'retry.limit': { label: 'Retries', hint: 'Empty for no end.' },
  'retry.backoff': {
    label: 'Waits',
    options: [
      ['exponential', 'twice as long each time'],
      ['fixed', 'equally long'],
      ['relative', 'parts of its interval'],
    ],
  },
  'retry.backoff.delay_seconds': { label: 'Seconds', initial: 60 },
  'retry.backoff.base_seconds': { label: 'Seconds', initial: 60 },
  'retry.backoff.max_seconds': { label: 'Seconds at most', initial: 3_600 },
  'retry.backoff.jitter': { label: 'Random share', initial: 0, hint: '0 to 1 of each wait.' },
  'retry.backoff.max_factor': { label: 'Intervals at most', initial: 60 },
  'retry.reset_after_seconds': { label: 'Failures count for seconds', hint: 'Empty for ever.' },
  'retry.exhausted': {
    label: 'Then',
    isHidden: isSingle,
    options: [
      ['next', 'wait for the next firing'],
      ['stop', 'give the job up'],
      ['wait', 'wait for the count to be reset'],
    ],
  },
  'retry.yields': { label: 'A retry gives way to the next firing' },
  timeout_seconds: { label: 'Stopped after seconds', hint: 'Empty for as long as it takes.' },
}

const firingLooks: Readonly<Record<string, Look>> = {
  missed: {
    label: 'Missed while down',
    options: [
      ['once', 'run once'],
      ['skip', 'do not run'],
      ['all', 'run all of them'],
    ],
  },
  'missed.max': { label: 'Runs at most', initial: 10 },
  'missed.max_age_seconds': { label: 'Not older than seconds', initial: 86_400 },
  overlap: {
    label: 'Still running',
    options: [
      ['skip', 'skip the firing'],
      ['queue', 'wait behind it'],
      ['replace', 'abort the old run'],
      ['allow', 'run side by side'],
    ],
  },
  'overlap.limit': { label: 'Firings that wait at most', initial: 1 },
  grace_seconds: { label: 'Late after seconds' },
  late_limit_seconds: { label: 'Not run when later than seconds', hint: 'Empty for no limit.' },
  jitter_seconds: { label: 'Spread over seconds' },
  run_limit: { label: 'Ends after runs', hint: 'Empty for no end.' },
  first: {
    label: 'First run',
    options: [
      ['next', 'at the next firing'],
      ['now', 'at once'],
      ['ifDue', 'at once, if it would be due by now'],
    ],
  },
  start_at: { label: `Starts (${localZone})` },
  end_at: { label: `Ends (${localZone})` },
}

const placeLooks: Readonly<Record<string, Look>> = {
  name: { isRequired: true },
  tenant: {
    placeholder: 'default',
    isHidden: ({ isNew }) => !isNew || !seesEveryTenant.value,
  },
  tags: { placeholder: 'billing, nightly' },
  priority: {
    options: [
      ['6', '6 critical'],
      ['5', '5 very high'],
      ['4', '4 high'],
      ['3', '3 normal'],
      ['2', '2 low'],
      ['1', '1 very low'],
    ],
    hint: '',
  },
  user_id: { label: 'User', hint: 'Users of a tenant take turns.' },
  'retention.attempts': { label: 'Attempts kept' },
  'retention.age_seconds': { label: 'Attempts kept for seconds' },
  'retention.payloads': { label: 'Payloads kept' },
  metadata: { label: 'Metadata (JSON)', lines: 3 },
}

export const jobLayout: Layout = {
  sections: [
    { title: null, fields: ['name', 'tenant'] },
    { title: 'What it does', fields: ['action', 'handler', 'payload'] },
    { title: 'When', fields: ['trigger'] },
  ],
  folded: {
    summary: 'Retries, overlap, queue, tags…',
    sections: [
      { title: 'When it fails', fields: ['retry', 'timeout_seconds'] },
      {
        title: 'When firings are missed or overlap',
        fields: ['missed', 'overlap', 'grace_seconds', 'late_limit_seconds', 'jitter_seconds'],
      },
      { title: 'From when to when', fields: ['first', 'start_at', 'end_at', 'run_limit'] },
      {
        title: 'Where it stands',
        fields: ['tags', 'queue', 'priority', 'user_id', 'retention', 'metadata'],
      },
    ],
  },
  looks: { ...placeLooks, ...workLooks, ...triggerLooks, ...failureLooks, ...firingLooks },
  either: {
    '': {
      label: 'Kind of work',
      options: [
        ['action:http', 'Request'],
        ['handler', 'Handler'],
        ['action:crawl', 'Crawl'],
        ['action:command', 'Command'],
        ['action:workflow', 'Workflow'],
      ],
    },
  },
}
