// Fields of forms: a label, a hint, and what the service said about the value, at the field itself.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ApiProblem } from '../data/problem.ts'

type Told = Pick<ApiProblem, 'errors'>

/** The rules the service named for a field, or for parts of it. */
export function rulesFor(problem: Told | null, names: readonly string[]): string[] {
  if (problem === null) return []
  return problem.errors
    .filter(({ field }) => names.some(name => field === name || field.startsWith(`${name}.`)))
    .map(({ field, rule }) => (names.includes(field) ? rule : `${field}: ${rule}`))
}

/** What is wrong with fields that are not on the form. */
export function otherRules(problem: ApiProblem | null, shown: readonly string[]): string[] {
  if (problem === null) return []
  const isShown = (field: string) =>
    shown.some(name => field === name || field.startsWith(`${name}.`))
  const rest = problem.errors.filter(({ field }) => !isShown(field))
  return rest.map(({ field, rule }) => `${field} ${rule}`)
}

interface RulesProps {
  readonly rules: readonly string[]
  readonly id?: string
}

export function Rules({ rules, id }: RulesProps) {
  if (rules.length === 0) return null
  return (
    <ul id={id} class="rules">
      {rules.map(rule => (
        <li key={rule}>{rule}</li>
      ))}
    </ul>
  )
}

interface Wiring {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

interface FieldProps {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly problem?: ApiProblem | null
  /** The names under which the service may refuse it. */
  readonly names?: readonly string[]
  /** Instead of those that the names lead to. */
  readonly rules?: readonly string[]
  readonly children: (wiring: Wiring) => ComponentChildren
}

export function Field(props: FieldProps) {
  const { label, hint, problem = null, names = [], children } = props
  const id = useId()
  const rules = props.rules ?? rulesFor(problem, names)
  const told = [hint !== undefined && `${id}-hint`, rules.length > 0 && `${id}-rules`]
  const described = told.filter(Boolean).join(' ')
  return (
    <div class={`field${rules.length > 0 ? ' wrong' : ''}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': rules.length > 0 ? true : undefined,
      })}
      <Rules id={`${id}-rules`} rules={rules} />
      {hint !== undefined && (
        <div id={`${id}-hint`} class="hint">
          {hint}
        </div>
      )}
    </div>
  )
}

interface TextProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
  readonly isMono?: boolean
  readonly rows?: number
  readonly type?: 'text' | 'number' | 'password' | 'datetime-local' | 'url'
  readonly suggestions?: readonly string[]
}

export function TextField({ value, onChange, rows, suggestions, ...rest }: TextProps) {
  const list = useId()
  const changed = (event: Event) =>
    onChange((event.target as HTMLInputElement | HTMLTextAreaElement).value)
  const look = rest.isMono ? 'input mono' : 'input'
  const type = rest.type as 'text' | undefined
  const shared = {
    value,
    onInput: changed,
    class: look,
    placeholder: rest.placeholder,
    spellcheck: false,
    autocomplete: 'off',
  }
  return (
    <Field {...rest}>
      {wiring =>
        rows === undefined ? (
          <>
            <input
              {...wiring}
              {...shared}
              type={type ?? 'text'}
              list={suggestions ? list : undefined}
            />
            {suggestions && (
              <datalist id={list}>
                {suggestions.map(one => (
                  <option key={one} value={one} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea {...wiring} {...shared} rows={rows} />
        )
      }
    </Field>
  )
}

interface ChoiceProps<V extends string> extends Omit<FieldProps, 'children'> {
  readonly value: V
  readonly onChange: (value: V) => void
  readonly options: readonly (readonly [value: V, label: string])[]
}

export function ChoiceField<V extends string>(props: ChoiceProps<V>) {
  const { value, onChange, options, ...rest } = props
  return (
    <Field {...rest}>
      {wiring => (
        <select
          {...wiring}
          class="input"
          value={value}
          onChange={event => onChange((event.target as HTMLSelectElement).value as V)}
        >
          {options.map(([one, label]) => (
            <option key={one} value={one}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckProps {
  readonly label: ComponentChildren
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

export function CheckField({ label, isOn, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={event => onChange((event.target as HTMLInputElement).checked)}
      />
      <span>{label}</span>
    </label>
  )
}
