// Fields of forms: a label, a hint, and what the service said about the value, at the field itself.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { ApiProblem } from '../data/problem.ts'

/** The rules the service named for a field, or for parts of it. */
export function rulesFor(
  problem: Pick<ApiProblem, 'errors'> | null,
  names: readonly string[],
): string[] {
  if (problem === null) return []
  return problem.errors
    .filter(({ field }) => names.some(name => field === name || field.startsWith(`${name}.`)))
    .map(({ field, rule }) => (names.includes(field) ? rule : `${field}: ${rule}`))
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

interface InputAttributes {
  readonly id: string
  readonly name: string | undefined
  readonly 'aria-required': true | undefined
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

interface FieldProps {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren | undefined
  /** As the service calls it. */
  readonly name?: string
  readonly isRequired?: boolean
  /** Takes a line of its own where others share one. */
  readonly isWide?: boolean
  readonly problem?: Pick<ApiProblem, 'errors'> | null
  /** The names under which the service may refuse it. */
  readonly names?: readonly string[]
  /** Instead of those that the names lead to. */
  readonly rules?: readonly string[]
  readonly children: (wiring: InputAttributes) => ComponentChildren
}

export function Field(props: FieldProps) {
  const { label, hint, problem = null, names = [], children } = props
  const id = useId()
  const rules = props.rules ?? rulesFor(problem, names)
  const described = [hint !== undefined && `${id}-hint`, rules.length > 0 && `${id}-rules`]
    .filter(Boolean)
    .join(' ')
  const look = `field${rules.length > 0 ? ' wrong' : ''}${props.isWide === true ? ' wide' : ''}`
  return (
    <div class={look}>
      <label for={id}>{label}</label>
      {children({
        id,
        name: props.name,
        'aria-required': props.isRequired === true ? true : undefined,
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
  readonly placeholder?: string | undefined
  readonly isMono?: boolean
  readonly rows?: number | undefined
  readonly type?: 'text' | 'number' | 'password' | 'datetime-local' | 'url'
  readonly min?: number | undefined
  readonly max?: number | undefined
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
              min={rest.min}
              max={rest.max}
              step={rest.type === 'number' ? 'any' : rest.type === 'datetime-local' ? 1 : undefined}
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
  readonly name?: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

export function CheckField({ label, name, isOn, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        checked={isOn}
        onChange={event => onChange((event.target as HTMLInputElement).checked)}
      />
      <span>{label}</span>
    </label>
  )
}
