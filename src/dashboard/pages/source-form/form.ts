// What the form of a source holds, and the way between it and the document of the service.

import type { ApiProblem, FieldProblem } from '../../data/problem.ts'
import {
  chosenOf,
  fieldsOf,
  isFields,
  listOf,
  numberIn,
  textOf,
  type Fields,
} from '../../forms/form-values.ts'
import { rulesFor } from '../../forms/field.tsx'
import { freshRowKey, keyed, type Keyed } from '../../forms/rows.tsx'

/** A parameter or a header: a text, or a secret of the service by its name. */
export interface ValueForm extends Keyed {
  readonly name: string
  readonly kind: 'text' | 'secret'
  readonly value: string
  readonly prefix: string
}

export interface FieldForm extends Keyed {
  readonly source: string
  readonly target: string
}

export type Paging = 'none' | 'offset' | 'cursor'
export type Rhythm = 'daily' | 'hourly' | 'interval'

export interface SourceForm {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly table: string
  readonly status: string
  readonly params: readonly ValueForm[]
  readonly headers: readonly ValueForm[]
  readonly dataPath: string
  readonly fields: readonly FieldForm[]
  readonly paging: Paging
  readonly pageParam: string
  readonly limitParam: string
  readonly limit: string
  readonly hasMorePath: string
  readonly counts: 'pages' | 'records'
  readonly first: string
  readonly cursorParam: string
  readonly nextCursorPath: string
  readonly rhythm: Rhythm
  readonly interval: string
  readonly timeout: string
  readonly maxRetries: string
  readonly retryResetPeriod: string
  /** What the form does not show, as it was. */
  readonly kept: Fields
}

/** What a new one begins with. */
export const newSource: Fields = { response: { dataPath: '.', fields: [{}] } }

export function formOf(document: Fields): SourceForm {
  const { name, description, url, table, status, params, headers, schedule, ...more } = document
  const { response, offsetPagination, cursorPagination, execution, ...kept } = more
  const { dataPath, fields } = fieldsOf(response)
  const { timeout, maxRetries, retryResetPeriod } = fieldsOf(execution)
  return {
    name: textOf(name, ''),
    description: textOf(description, ''),
    url: textOf(url, ''),
    table: textOf(table, ''),
    status: textOf(status, 'active'),
    params: keyed(listOf(params).map(fieldsOf).map(valueOf)),
    headers: keyed(
      Object.entries(fieldsOf(headers)).map(([one, value]) => valueOf({ name: one, value })),
    ),
    dataPath: textOf(dataPath, '.'),
    fields: keyed(listOf(fields).map(fieldsOf).map(fieldOf)),
    ...pagingOf(offsetPagination, cursorPagination),
    ...rhythmOf(textOf(schedule, 'daily')),
    timeout: textOf(timeout, '300'),
    maxRetries: textOf(maxRetries, '5'),
    retryResetPeriod: textOf(retryResetPeriod, '1d'),
    kept,
  }
}

/** Numbers and truth values become texts: in an address they are the same. */
function valueOf({ name, value }: Fields): Omit<ValueForm, 'key'> {
  const named = { name: textOf(name, ''), prefix: '' }
  if (isFields(value)) {
    const prefix = textOf(value.prefix, '')
    return { ...named, kind: 'secret', value: textOf(value.secret, ''), prefix }
  }
  const text = typeof value === 'boolean' ? String(value) : textOf(value, '')
  return { ...named, kind: 'text', value: text }
}

const fieldOf = ({ source, target }: Fields): Omit<FieldForm, 'key'> => ({
  source: textOf(source, ''),
  target: textOf(target, ''),
})

function pagingOf(offset: unknown, cursor: unknown) {
  const { pageParam, limitParam, limit, hasMorePath, counts, first } = fieldsOf(offset)
  const { cursorParam, nextCursorPath } = fieldsOf(cursor)
  const paging: Paging = isFields(offset) ? 'offset' : isFields(cursor) ? 'cursor' : 'none'
  return {
    paging,
    pageParam: textOf(pageParam, 'page'),
    limitParam: textOf(limitParam, ''),
    limit: textOf(limit, '100'),
    hasMorePath: textOf(hasMorePath, ''),
    counts: chosenOf(counts, ['pages', 'records'], 'pages'),
    first: textOf(first, ''),
    cursorParam: textOf(cursorParam, ''),
    nextCursorPath: textOf(nextCursorPath, ''),
  }
}

function rhythmOf(schedule: string): Pick<SourceForm, 'rhythm' | 'interval'> {
  if (schedule === 'daily' || schedule === 'hourly') return { rhythm: schedule, interval: '15m' }
  return { rhythm: 'interval', interval: schedule.replace(/^interval:/, '') }
}

/** What is sent; whether it is right is for the service to say. */
export function bodyOf(form: SourceForm): Fields {
  const { name, description, url, table, status, dataPath } = form
  return {
    ...form.kept,
    name,
    description,
    url,
    table,
    status,
    params: filled(form.params).map(row => ({ name: row.name, value: valueBody(row) })),
    headers: Object.fromEntries(filled(form.headers).map(row => [row.name, valueBody(row)])),
    response: {
      dataPath,
      fields: form.fields.map(({ source, target }) => ({ source, target })),
    },
    ...pagingBody(form),
    schedule: form.rhythm === 'interval' ? `interval:${form.interval}` : form.rhythm,
    execution: {
      timeout: numberIn(form.timeout),
      maxRetries: numberIn(form.maxRetries),
      retryResetPeriod: form.retryResetPeriod,
    },
  }
}

/** Rows that nobody wrote in are not meant. */
const filled = (rows: readonly ValueForm[]) =>
  rows.filter(({ name, value }) => name !== '' || value !== '')

function valueBody({ kind, value, prefix }: ValueForm): unknown {
  if (kind === 'text') return value
  return prefix === '' ? { secret: value } : { secret: value, prefix }
}

const given = (name: string, value: unknown): Fields => (value === '' ? {} : { [name]: value })

function pagingBody(form: SourceForm): Fields {
  switch (form.paging) {
    case 'none':
      return {}
    case 'offset':
      return {
        offsetPagination: {
          pageParam: form.pageParam,
          limit: numberIn(form.limit),
          counts: form.counts,
          ...given('limitParam', form.limitParam),
          ...given('hasMorePath', form.hasMorePath),
          ...given('first', numberIn(form.first)),
        },
      }
    case 'cursor':
      return {
        cursorPagination: {
          nextCursorPath: form.nextCursorPath,
          ...given('cursorParam', form.cursorParam),
        },
      }
  }
}

/** Of two headers with one name only one would be sent. */
export function faultsOf({ headers }: SourceForm): readonly FieldProblem[] {
  const names = filled(headers).map(({ name }) => name)
  const twice = names.filter((name, at) => names.indexOf(name) < at)
  const rule = 'is there twice'
  return twice.map(name => ({ field: `headers.${name}`, value: null, rule, is_name: true }))
}

/** What the service said about a parameter or a header. */
export interface RowRules {
  readonly ofName: readonly string[]
  readonly ofValue: readonly string[]
}

type Told = Pick<ApiProblem, 'errors'> | null

export function paramRules(problem: Told, at: number): RowRules {
  return {
    ofName: rulesFor(problem, [`params.${at}.name`]),
    ofValue: rulesFor(problem, [`params.${at}.value`]),
  }
}

/** To the service name and value are one field; it says when it means the name. */
export function headerRules(problem: Told, name: string): RowRules {
  const at = `headers.${name}`
  const errors = problem?.errors ?? []
  return {
    ofName: rulesFor({ errors: errors.filter(one => one.is_name === true) }, [at]),
    ofValue: rulesFor({ errors: errors.filter(one => one.is_name !== true) }, [at]),
  }
}

const plainFields = [
  'name',
  'description',
  'url',
  'table',
  'status',
  'schedule',
  'execution',
  'response.dataPath',
]

const pagingFields: Readonly<Record<Paging, readonly string[]>> = {
  none: [],
  offset: ['pageParam', 'limitParam', 'limit', 'hasMorePath', 'counts', 'first'].map(
    name => `offsetPagination.${name}`,
  ),
  cursor: ['cursorParam', 'nextCursorPath'].map(name => `cursorPagination.${name}`),
}

/** Every name that a field of the form shows the rules of. */
export function shownIn({ paging, params, headers, fields }: SourceForm): string[] {
  return [
    ...plainFields,
    ...pagingFields[paging],
    ...filled(params).flatMap((_row, i) => [`params.${i}.name`, `params.${i}.value`]),
    ...headers.map(({ name }) => `headers.${name}`),
    ...fields.flatMap((_row, i) =>
      ['source', 'target'].map(part => `response.fields.${i}.${part}`),
    ),
  ]
}

/** Where the service counts a row: those nobody wrote in are left out. */
export function sentIndex(rows: readonly ValueForm[], at: number): number {
  return filled(rows.slice(0, at)).length
}

export function addValue(rows: readonly ValueForm[]): readonly ValueForm[] {
  return [...rows, { ...valueOf({}), key: freshRowKey(rows) }]
}

export function addField(rows: readonly FieldForm[]): readonly FieldForm[] {
  return [...rows, { ...fieldOf({}), key: freshRowKey(rows) }]
}
