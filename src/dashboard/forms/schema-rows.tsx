// Lists of a form: rows of the same fields, and names with their values.

import type { ComponentChildren } from 'preact'
import type { ApiProblem } from '../data/problem.ts'
import { draftText, withRow, type GroupDraft, type RowDraft, type RowsDraft } from './draft.ts'
import { Rules, rulesFor, TextField } from './field.tsx'
import { labelOf, looksAt, lookOf, sentRows, type FieldProps, type GroupProps } from './layout.ts'
import { moved, replaced, Rows, RowTools, without } from './rows.tsx'
import type { Shape } from './shape.ts'

type ListShape = Shape & { kind: 'rows' | 'map' }

interface RowsProps<S extends ListShape> extends FieldProps {
  readonly shape: S
  readonly draft: RowsDraft
}

/** Where the service counts a row: those nobody wrote in are not sent. */
export const sentIndex = (shape: ListShape, draft: RowsDraft, at: number): number =>
  sentRows(shape, { ...draft, rows: draft.rows.slice(0, at) }).length

/** What a list has around its rows. */
function frameOf({ shape, draft, set, path, name, form }: RowsProps<ListShape>) {
  const { item = 'row', hint } = lookOf(form.layout, path)
  return {
    item,
    put: (rows: readonly RowDraft[]) => set({ ...draft, rows }),
    frame: {
      title: labelOf(form.layout, path, name),
      add: `Add ${/^[aeiou]/.test(item) ? 'an' : 'a'} ${item}`,
      onAdd: () => set(withRow(shape, draft)),
      hint,
    },
    rules: (form.problem?.errors ?? [])
      .filter(({ field }) => field === path)
      .map(({ rule }) => rule),
  }
}

interface ListProps extends RowsProps<Shape & { kind: 'rows' }> {
  readonly Fields: (props: GroupProps) => ComponentChildren
}

export function SchemaRows({ Fields, ...props }: ListProps) {
  const { shape, draft, path, form } = props
  const { rows } = draft
  const { item, put, frame, rules } = frameOf(props)
  return (
    <Rows {...frame}>
      <Rules rules={rules} />
      {rows.map((row, at) => (
        <div key={row.key} class="form-row">
          <Fields
            group={shape.row}
            draft={row.value as GroupDraft}
            set={value => put(replaced(rows, at, { value }))}
            path={`${path}.${sentIndex(shape, draft, at)}`}
            form={form}
          />
          <RowTools
            what={`${item} ${titleOf(row) || at + 1}`}
            at={at}
            count={rows.length}
            onMove={by => put(moved(rows, at, by))}
            onRemove={() => put(without(rows, at))}
          />
        </div>
      ))}
    </Rows>
  )
}

/** What people know a row by. */
function titleOf({ value }: RowDraft): string {
  const { fields } = value as GroupDraft
  return draftText(['target', 'id', 'name'].map(name => fields[name]).find(Boolean))
}

interface MapProps extends RowsProps<Shape & { kind: 'map' }> {
  readonly Value: (props: FieldProps) => ComponentChildren
}

export function SchemaMap({ Value, ...props }: MapProps) {
  const { shape, draft, path, form } = props
  const { rows } = draft
  const { item, put, frame, rules } = frameOf(props)
  return (
    <Rows {...frame}>
      <Rules rules={rules} />
      {rows.map((row, at) => {
        const place = `${path}.${row.name}`
        const { ofName, problem } = mapRules(form.problem, place)
        return (
          <div key={row.key} class="form-row">
            <TextField
              label="Name"
              value={row.name}
              onChange={name => put(replaced(rows, at, { name }))}
              rules={ofName}
            />
            <Value
              field={{ shape: shape.value, isRequired: true, isNullable: false }}
              name="value"
              path={place}
              draft={row.value}
              set={value => put(replaced(rows, at, { value }))}
              form={{ ...form, problem, layout: looksAt(form.layout, `${path}.*`, place) }}
              group={props.group}
            />
            <RowTools
              what={`${item} ${row.name || at + 1}`}
              at={at}
              count={rows.length}
              onRemove={() => put(without(rows, at))}
            />
          </div>
        )
      })}
    </Rows>
  )
}

/** To the service name and value are one field; it says when it means the name. */
export function mapRules(problem: Pick<ApiProblem, 'errors'> | null, path: string) {
  const errors = problem?.errors ?? []
  return {
    ofName: rulesFor({ errors: errors.filter(one => one.is_name === true) }, [path]),
    problem: { errors: errors.filter(one => one.is_name !== true) },
  }
}
