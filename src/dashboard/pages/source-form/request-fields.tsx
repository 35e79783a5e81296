// The request of a source: its address, parameters and headers, and how its pages are asked for.

import type { SectionProps } from '../../forms/document-form.tsx'
import { ChoiceField, TextField } from '../../forms/field.tsx'
import { moved, replaced, Rows, RowTools, without } from '../../forms/rows.tsx'
import { Segments } from '../../components/segments.tsx'
import {
  addValue,
  headerRules,
  paramRules,
  sentIndex,
  type Paging,
  type RowRules,
  type SourceForm,
  type ValueForm,
} from './form.ts'

export type SourceSection = SectionProps<SourceForm>

export function RequestFields(props: SourceSection) {
  const { form, change, problem } = props
  return (
    <>
      <fieldset>
        <legend>Request</legend>
        <TextField
          label="Address"
          type="url"
          value={form.url}
          onChange={url => change({ url })}
          placeholder="https://api.example.com/v1/items"
          problem={problem}
          names={['url']}
          hint="Asked with GET. Internal hosts need CARILLON_ALLOW_HOSTS."
        />
      </fieldset>
      <ValueRows
        {...props}
        title="Parameters"
        what="parameter"
        rows={form.params}
        set={params => change({ params })}
        rulesOf={(_row, at) => paramRules(props.problem, sentIndex(form.params, at))}
        isOrdered
      />
      <ValueRows
        {...props}
        title="Headers"
        what="header"
        rows={form.headers}
        set={headers => change({ headers })}
        rulesOf={({ name }) => headerRules(props.problem, name)}
        isOrdered={false}
      />
      <PagingFields {...props} />
    </>
  )
}

interface ValuesProps extends SourceSection {
  readonly title: string
  readonly what: string
  readonly rows: readonly ValueForm[]
  readonly set: (rows: readonly ValueForm[]) => void
  /** What the service said about a row. */
  readonly rulesOf: (row: ValueForm, at: number) => RowRules
  readonly isOrdered: boolean
}

const kinds = [
  ['text', 'Text'],
  ['secret', 'Secret'],
] as const

function ValueRows({ title, what, rows, set, rulesOf, isOrdered }: ValuesProps) {
  return (
    <Rows title={title} add={`Add a ${what}`} onAdd={() => set(addValue(rows))}>
      {rows.map((row, at) => {
        const to = (changes: Partial<ValueForm>) => set(replaced(rows, at, changes))
        const isSecret = row.kind === 'secret'
        const { ofName, ofValue } = rulesOf(row, at)
        return (
          <div key={row.key} class="form-row">
            <TextField
              label="Name"
              value={row.name}
              onChange={name => to({ name })}
              rules={ofName}
            />
            <ChoiceField
              label="Kind"
              value={row.kind}
              onChange={kind => to({ kind })}
              options={kinds}
            />
            {isSecret && (
              <TextField
                label="Before it"
                value={row.prefix}
                onChange={prefix => to({ prefix })}
                placeholder="Bearer "
              />
            )}
            <TextField
              label={isSecret ? 'Secret' : 'Value'}
              value={row.value}
              onChange={value => to({ value })}
              placeholder={isSecret ? 'API_KEY' : ''}
              rules={ofValue}
            />
            <RowTools
              what={`${what} ${row.name || at + 1}`}
              at={at}
              count={rows.length}
              {...(isOrdered && { onMove: by => set(moved(rows, at, by)) })}
              onRemove={() => set(without(rows, at))}
            />
          </div>
        )
      })}
    </Rows>
  )
}

const pagings: readonly (readonly [Paging, string])[] = [
  ['none', 'One page'],
  ['offset', 'By number'],
  ['cursor', 'By a cursor'],
]

function PagingFields(props: SourceSection) {
  const { form, change } = props
  return (
    <fieldset>
      <legend>Pages</legend>
      <div>
        <Segments
          label="How pages are asked for"
          value={form.paging}
          options={pagings}
          onChange={paging => change({ paging })}
        />
      </div>
      {form.paging === 'offset' && <OffsetFields {...props} />}
      {form.paging === 'cursor' && <CursorFields {...props} />}
    </fieldset>
  )
}

const offset = (field: string) => [`offsetPagination.${field}`]

function OffsetFields({ form, change, problem }: SourceSection) {
  return (
    <div class="pair">
      <TextField
        label="Parameter of the page"
        value={form.pageParam}
        onChange={pageParam => change({ pageParam })}
        problem={problem}
        names={offset('pageParam')}
      />
      <ChoiceField
        label="It counts"
        value={form.counts}
        onChange={counts => change({ counts })}
        options={[
          ['pages', 'pages: 1, 2, 3'],
          ['records', 'records: 0, 100, 200'],
        ]}
        problem={problem}
        names={offset('counts')}
      />
      <TextField
        label="Records in a page"
        type="number"
        value={form.limit}
        onChange={limit => change({ limit })}
        problem={problem}
        names={offset('limit')}
      />
      <TextField
        label="Parameter of their number"
        value={form.limitParam}
        onChange={limitParam => change({ limitParam })}
        placeholder="none"
        problem={problem}
        names={offset('limitParam')}
      />
      <TextField
        label="First value"
        type="number"
        value={form.first}
        onChange={first => change({ first })}
        placeholder={form.counts === 'pages' ? '1' : '0'}
        problem={problem}
        names={offset('first')}
      />
      <TextField
        label="Path that says there is more"
        value={form.hasMorePath}
        onChange={hasMorePath => change({ hasMorePath })}
        placeholder="meta.has_more"
        problem={problem}
        names={offset('hasMorePath')}
        hint="Empty: the first page that is not full is the last."
      />
    </div>
  )
}

function CursorFields({ form, change, problem }: SourceSection) {
  return (
    <div class="pair">
      <TextField
        label="Path of the next cursor"
        value={form.nextCursorPath}
        onChange={nextCursorPath => change({ nextCursorPath })}
        placeholder="meta.next"
        problem={problem}
        names={['cursorPagination.nextCursorPath']}
      />
      <TextField
        label="Parameter of the cursor"
        value={form.cursorParam}
        onChange={cursorParam => change({ cursorParam })}
        placeholder="none: what is found is a link"
        problem={problem}
        names={['cursorPagination.cursorParam']}
      />
    </div>
  )
}
