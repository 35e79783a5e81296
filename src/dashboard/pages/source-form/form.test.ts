// The form of a source: what it sends is what it was filled from; rows nobody wrote in are not sent.

import { describe, expect, it } from 'vitest'
import type { FieldProblem } from '../../data/problem.ts'
import {
  addValue,
  bodyOf,
  faultsOf,
  formOf,
  headerRules,
  newSource,
  sentIndex,
  shownIn,
} from './form.ts'

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

describe('the form of a source', () => {
  it('sends back what it was filled from, also what it does not show', () => {
    expect(bodyOf(formOf(document))).toEqual(document)
    const { offsetPagination: _offset, ...rest } = document
    const cursor = { ...rest, cursorPagination: { nextCursorPath: 'next' }, colour: 'red' }
    expect(bodyOf(formOf(cursor))).toEqual(cursor)
  })

  it('begins with the defaults of the service', () => {
    expect(bodyOf(formOf(newSource))).toMatchObject({
      status: 'active',
      schedule: 'daily',
      execution: { timeout: 300, maxRetries: 5, retryResetPeriod: '1d' },
      response: { dataPath: '.', fields: [{ source: '', target: '' }] },
    })
  })

  it('leaves out rows nobody wrote in, and counts the others as the service does', () => {
    const form = formOf(document)
    const [first, second] = form.params
    const params = addValue([first!, { ...second!, name: '', value: '' }, second!])
    expect(bodyOf({ ...form, params }).params).toEqual(document.params)
    expect(sentIndex(params, 2)).toBe(1)
    expect(shownIn({ ...form, params })).toContain('params.1.value')
  })

  it('says which header would be lost', () => {
    const form = formOf(document)
    expect(faultsOf(form)).toEqual([])
    const headers = [...form.headers, { ...form.headers[0]!, key: 9 }]
    expect(faultsOf({ ...form, headers })).toEqual([
      { field: 'headers.Accept', value: null, rule: 'is there twice', is_name: true },
    ])
  })

  it('puts what is wrong with a header at its name or at its value', () => {
    const errors: FieldProblem[] = [
      { field: 'headers.Host', value: '***', rule: 'must not be set', is_name: true },
      { field: 'headers.X-Key', value: '***', rule: 'must be a reference' },
      { field: 'headers.X-Key.secret', value: '***', rule: 'must be the name of a secret' },
      { field: 'headers.', value: '***', rule: 'must have the name of a header', is_name: true },
    ]
    expect(headerRules({ errors }, 'Host')).toEqual({ ofName: ['must not be set'], ofValue: [] })
    expect(headerRules({ errors }, 'X-Key')).toEqual({
      ofName: [],
      ofValue: ['must be a reference', 'headers.X-Key.secret: must be the name of a secret'],
    })
    expect(headerRules({ errors }, '').ofName).toEqual(['must have the name of a header'])
    expect(headerRules(null, 'Host')).toEqual({ ofName: [], ofValue: [] })
  })

  it('keeps a schedule it has no words for until someone changes it', () => {
    expect(formOf({ schedule: 'cron 0 7 * * *' })).toMatchObject({
      rhythm: 'interval',
      interval: 'cron 0 7 * * *',
    })
  })
})
