// The choice between fields of which one is sent, such as a handler or an action of a certain kind.

import { Segments } from '../components/segments.tsx'
import { choose, type GroupDraft, type VariantsDraft } from './draft.ts'
import { eitherOf, type FormContext } from './layout.ts'
import { Rules } from './field.tsx'
import type { Group } from './shape.ts'

interface EitherProps {
  readonly group: Group
  readonly draft: GroupDraft
  readonly set: (draft: GroupDraft) => void
  readonly path: string
  readonly form: FormContext
}

export function EitherField({ group, draft, set, path, form }: EitherProps) {
  const { label, options } = eitherOf(form.layout, path)!
  const { members } = group.either!
  const on = members.find(name => !draft.off.includes(name)) ?? ''
  const variants = (name: string) => {
    const shape = group.fields[name]?.shape
    return shape?.kind === 'variants' ? shape : null
  }
  const optionOf = (name: string) =>
    variants(name) === null ? name : `${name}:${(draft.fields[name] as VariantsDraft).chosen}`
  const known = members.flatMap(name => {
    const shape = variants(name)
    return shape === null ? [name] : Object.keys(shape.variants).map(one => `${name}:${one}`)
  })
  const others = [...new Set([...known, optionOf(on)])].filter(
    name => name !== '' && !options.some(([one]) => one === name),
  )
  const pick = (option: string) => {
    const [name = '', variant] = option.split(':')
    const rest = draft.off.filter(one => !members.includes(one))
    const off = [...rest, ...members.filter(one => one !== name)]
    const shape = variants(name)
    if (shape === null || variant === undefined) return set({ ...draft, off })
    const chosen = choose(shape, draft.fields[name] as VariantsDraft, variant)
    set({ ...draft, off, fields: { ...draft.fields, [name]: chosen } })
  }
  const tag = variants(on)?.tag
  const at = path === '' ? on : `${path}.${on}`
  const rules = (form.problem?.errors ?? []).filter(
    ({ field }) => variants(on) !== null && (field === at || field === `${at}.${tag}`),
  )
  return (
    <div class="wide stack tight">
      <div class="field">
        <Segments
          label={label}
          value={optionOf(on)}
          options={[...options, ...others.map(name => [name, name.split(':').at(-1)!] as const)]}
          onChange={pick}
        />
      </div>
      <Rules rules={rules.map(({ rule }) => rule)} />
    </div>
  )
}
