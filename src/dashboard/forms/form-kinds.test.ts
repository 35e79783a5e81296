// What the forms of jobs, sources and workflows send is what they were filled from; what a person changes
// is changed, and nothing else.

import { beforeAll, describe, expect, it } from 'vitest'
import { formShapes } from '../../../scripts/build/form-shapes.ts'
import { choose, withRow, type GroupDraft, type RowsDraft, type VariantsDraft } from './draft.ts'
import { mapRules } from './schema-rows.tsx'
import type { FormKind } from './form-kind.ts'
import { changedFields, type Fields } from './form-values.ts'
import { replaced } from './rows.tsx'
import { isShownIn, placesIn } from './layout.ts'
import type { Variants } from './shape.ts'
import { loadForms } from './testing.ts'

let forms: Awaited<ReturnType<typeof loadForms>>
let kinds: Record<'job' | 'source' | 'workflow', FormKind>

beforeAll(async () => {
  forms = await loadForms()
  const of = (name: 'job' | 'source' | 'workflow') => forms.kinds[name](formShapes()[name])
  kinds = { job: of('job'), source: of('source'), workflow: of('workflow') }
})

const withField = (form: GroupDraft, name: string, value: GroupDraft['fields'][string]) => ({
  ...form,
  fields: { ...form.fields, [name]: value },
})

describe('the form of a job', () => {
  const job = {
    name: 'digest',
    handler: 'mail',
    trigger: { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', dialect: 'posix' },
    payload: { segment: 'all' },
    tags: ['mail', 'two words'],
    queue: 'mail',
    user_id: null,
    priority: 5,
    retry: {
      limit: null,
      backoff: { kind: 'fixed', delay_seconds: 30 },
      reset_after_seconds: null,
      exhausted: 'next',
      yields: true,
    },
    timeout_seconds: null,
    overlap: { policy: 'queue', limit: 3 },
    missed: { policy: 'all', max: 7, max_age_seconds: 3_600 },
    first: 'ifDue',
    start_at: '2027-01-31T09:00:30.250Z',
    end_at: null,
    run_limit: null,
    jitter_seconds: 0,
    grace_seconds: 60,
    late_limit_seconds: null,
    retention: { attempts: 10, age_seconds: 60, payloads: false },
    metadata: { team: 'a' },
  }
  const sent = (document: Fields) => kinds.job.bodyOf(kinds.job.formOf(document))

  it.each<[string, Fields]>([
    ['a handler', job],
    [
      'an interval with its grid',
      { ...job, trigger: { every: '90m', from: 'start', anchor: '2027-01-01T00:00:07.500Z' } },
    ],
    [
      'cron with a rule for clock changes',
      { ...job, trigger: { ...job.trigger, dst: { gap: 'skip', fold: 'both' } } },
    ],
    ['plain policies', { ...job, overlap: 'replace', missed: 'skip', tags: ['a, b', ' c'] }],
  ])('sends back what it was filled from: %s', (_name, document) => {
    expect(sent(document)).toEqual(document)
  })

  it.each<[string, Fields]>([
    [
      'a request',
      {
        kind: 'http',
        url: 'https://a.example',
        method: 'PUT',
        headers: { A: '***' },
        body: null,
        secrets: ['***'],
        timeout_seconds: 9,
        params: [{ name: 'q', value: { secret: 'KEY' } }],
      },
    ],
    ['a command', { kind: 'command', argv: ['sh', '-c', 'a, b'], env: { A: '***' } }],
    ['a workflow', { kind: 'workflow', workflow_id: 7, owner: null }],
    ['a kind it does not know', { kind: 'source', table: 'rates' }],
  ])('sends back an action as it was: %s', (_name, action) => {
    const { handler: _, ...rest } = job
    expect(sent({ ...rest, handler: `action:${String(action.kind)}`, action })).toEqual({
      ...rest,
      action,
    })
  })

  it('reads intervals as people write them', () => {
    const every = (ms: number) =>
      sent({ ...job, trigger: { every: ms, from: 'schedule', anchor: null } }).trigger
    expect([5_400_000, 86_400_000, 1_500, 7_000].map(every)).toMatchObject([
      { every: '90m' },
      { every: '1d' },
      { every: '1500ms' },
      { every: '7s' },
    ])
  })

  it('sends only what was changed', () => {
    const before = kinds.job.formOf(job)
    const now = withField(before, 'priority', '6')
    expect(changedFields(kinds.job.bodyOf(before), kinds.job.bodyOf(before))).toEqual({})
    expect(changedFields(kinds.job.bodyOf(before), kinds.job.bodyOf(now))).toEqual({ priority: 6 })
  })

  it('begins with the defaults of the service, and a name that must be given', () => {
    expect(sent({})).toMatchObject({
      name: '',
      action: { kind: 'http', method: 'POST', timeout_seconds: 30 },
      retry: { limit: 3, exhausted: 'next' },
      timeout_seconds: 600,
      retention: { attempts: 100, age_seconds: 2_592_000 },
    })
  })

  it('can only stop when the retries of a single run are spent', () => {
    const single = { ...job, trigger: { manual: true }, retry: { ...job.retry, exhausted: 'stop' } }
    expect(sent(single).retry).toMatchObject({ exhausted: 'stop' })
    const form = kinds.job.formOf(single)
    const trigger = form.fields.trigger as VariantsDraft
    const shape = kinds.job.shape.fields.trigger!.shape as Variants
    const recurring = withField(form, 'trigger', choose(shape, trigger, 'every'))
    expect(kinds.job.bodyOf(recurring).retry).toMatchObject({ exhausted: 'next' })
  })

  it('takes along what was typed when the kind of work changes', () => {
    const form = kinds.job.formOf({ ...job, action: { kind: 'http', url: 'https://a.example' } })
    const shape = kinds.job.shape.fields.action!.shape as Variants
    const crawl = choose(shape, form.fields.action as VariantsDraft, 'crawl')
    expect(kinds.job.bodyOf(withField(form, 'action', crawl)).action).toMatchObject({
      kind: 'crawl',
      url: 'https://a.example',
      depth: 3,
    })
  })

  it('leaves what is no number and no JSON for the service to refuse by name', () => {
    const form = withField(withField(kinds.job.formOf(job), 'payload', '{"a":'), 'run_limit', 'x')
    expect(kinds.job.bodyOf(form)).toMatchObject({ payload: '{"a":', run_limit: 'x' })
    const cleared = withField(withField(form, 'run_limit', ''), 'grace_seconds', '')
    expect(kinds.job.bodyOf(cleared)).toMatchObject({ run_limit: null, grace_seconds: '' })
  })

  it('knows which problems it shows, and which nobody would see', () => {
    const root = kinds.job.formOf({ ...job, handler: undefined, action: { kind: 'http' } })
    const form = { layout: kinds.job.layout, problem: null, isNew: true, root }
    const places = placesIn(kinds.job.shape, root, '', form)
    const seen = ['action.url', 'action.kind', 'trigger', 'retry.backoff.delay_seconds', 'tags.3']
    expect(seen.filter(field => !isShownIn(places, field))).toEqual([])
    const unseen = ['action.depth', 'handler', 'retry.backoff.max_factor', 'colour']
    expect(unseen.filter(field => isShownIn(places, field))).toEqual([])
  })
})

describe('the form of a source', () => {
  const document = {
    name: 'rates',
    description: 'of exchange',
    url: 'https://api.example.com/rates',
    table: 'rates',
    status: 'active',
    params: [
      { name: 'base', value: 'EUR' },
      { name: 'key', value: { secret: 'RATES' } },
    ],
    headers: { Accept: 'application/json', 'X-Key': { secret: 'RATES', prefix: 'Bearer ' } },
    response: { dataPath: 'data', fields: [{ source: 'a.b', target: 'ab' }] },
    offsetPagination: { pageParam: 'page', limit: 50, counts: 'records', first: 0 },
    schedule: 'interval:15m',
    execution: { timeout: 60, maxRetries: 3, retryResetPeriod: '6h' },
  }
  const sent = (given: Fields) => kinds.source.bodyOf(kinds.source.formOf(given))

  it('sends back what it was filled from, also what it does not know', () => {
    expect(sent(document)).toEqual(document)
    const { offsetPagination: _offset, ...rest } = document
    const cursor = { ...rest, cursorPagination: { nextCursorPath: 'next' }, colour: 'red' }
    expect(sent(cursor)).toEqual(cursor)
    expect(sent({ schedule: 'cron 0 7 * * *' })).toMatchObject({ schedule: 'cron 0 7 * * *' })
  })

  it('begins with the defaults of the service', () => {
    expect(sent({})).toMatchObject({
      status: 'active',
      schedule: 'daily',
      execution: { timeout: 300, maxRetries: 5, retryResetPeriod: '1d' },
      response: { dataPath: '.', fields: [{ source: '', target: '' }] },
    })
  })

  it('leaves out rows nobody wrote in, and counts the others as the service does', () => {
    const form = kinds.source.formOf(document)
    const shape = kinds.source.shape.fields.params!.shape as Parameters<typeof withRow>[0]
    const { rows } = withRow(shape, form.fields.params as RowsDraft)
    const params = { kind: 'rows', rows: [rows[0]!, rows[2]!, rows[1]!], isGiven: true } as const
    const root = withField(form, 'params', params)
    expect(kinds.source.bodyOf(root).params).toEqual(document.params)
    const context = { layout: kinds.source.layout, problem: null, isNew: true, root }
    const places = placesIn(kinds.source.shape, root, '', context)
    expect(isShownIn(places, 'params.1.value')).toBe(true)
    expect(isShownIn(places, 'params.2.value')).toBe(false)
  })

  it('says which header would be lost', () => {
    const form = kinds.source.formOf(document)
    expect(forms.repeatedNames(kinds.source, form)).toEqual([])
    const headers = form.fields.headers as RowsDraft
    const rows = [...headers.rows, { ...headers.rows[0]!, key: 9 }]
    expect(
      forms.repeatedNames(kinds.source, withField(form, 'headers', { ...headers, rows })),
    ).toEqual([{ field: 'headers.Accept', value: null, rule: 'is there twice', is_name: true }])
  })

  it('puts what is wrong with a header at its name or at its value', () => {
    const errors = [
      { field: 'headers.Host', value: '***', rule: 'must not be set', is_name: true as const },
      { field: 'headers.X-Key.secret', value: '***', rule: 'must be the name of a secret' },
    ]
    expect(mapRules({ errors }, 'headers.Host')).toEqual({
      ofName: ['must not be set'],
      problem: { errors: [errors[1]] },
    })
    expect(mapRules(null, 'headers.Host').ofName).toEqual([])
  })
})

describe('the form of a workflow', () => {
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
  const sent = (given: Fields) => kinds.workflow.bodyOf(kinds.workflow.formOf(given))
  const stepsIn = (form: GroupDraft) => (form.fields.steps as RowsDraft).rows
  const sentSteps = (rows: RowsDraft['rows']) =>
    kinds.workflow.bodyOf(
      withField(kinds.workflow.formOf(document), 'steps', { kind: 'rows', rows, isGiven: true }),
    ).steps

  it('sends back what it was filled from, also what it does not know', () => {
    expect(sent(document)).toEqual(document)
    const odd = { ...document, colour: 'red', steps: [{ ...document.steps[0], retries: 3 }] }
    expect(sent(odd)).toEqual(odd)
  })

  it('leaves out what nobody wrote in a new one', () => {
    expect(sent(forms.newWorkflow)).toEqual({
      name: '',
      active: true,
      trigger_nodes: [{ priority: 3, active: true }],
      steps: [{ id: 'first', needs: [], handler: '' }],
    })
    expect(sent({ ...document, id: 'x' })).toMatchObject({ id: 'x' })
  })

  it('keeps what needs a step while it is renamed, and forgets it when it is removed', () => {
    const steps = stepsIn(kinds.workflow.formOf(document))
    const named = (id: string) => ({ value: withField(steps[0]!.value as GroupDraft, 'id', id) })
    const renamed = replaced(replaced(steps, 0, named('')), 0, named('fetch'))
    expect(sentSteps(renamed)).toMatchObject([{ id: 'fetch' }, { needs: ['fetch', 'gone'] }])
    const left = forms.steps.removeStep(steps, 0)
    expect(sentSteps(left)).toMatchObject([{ id: 'tell', needs: ['gone'] }])
  })

  it('puts a new step behind the last one, under a name that is free', () => {
    const { addStep } = forms.steps
    const row = (kinds.workflow.shape.fields.steps!.shape as { row: Parameters<typeof addStep>[0] })
      .row
    const rows = addStep(row, addStep(row, stepsIn(kinds.workflow.formOf(document))))
    expect(sentSteps(rows)).toMatchObject([
      {},
      {},
      { id: 'step-3', needs: ['tell'] },
      { id: 'step-4', needs: ['step-3'], handler: '' },
    ])
  })

  it('takes whatever a text says', () => {
    expect(sent({ name: 7, steps: 'none', trigger_nodes: [3] })).toMatchObject({
      name: '7',
      steps: [],
      trigger_nodes: [{ priority: 3, active: true }],
    })
  })
})
