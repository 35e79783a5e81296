// The name of a handler, with those that nodes have offered while it is typed.

import { draftText } from './draft.ts'
import { never, useRead } from '../data/read.ts'
import { reads } from '../data/reads.ts'
import { TextField } from './field.tsx'
import type { FieldProps } from './layout.ts'

export function HandlerField({ path, draft, set, form }: FieldProps) {
  return (
    <TextField
      label="Handler"
      name={path}
      names={[path]}
      isRequired
      value={draftText(draft)}
      onChange={set}
      suggestions={useHandlerNames()}
      problem={form.problem}
      hint="Code that a node has registered under this name."
    />
  )
}

/** Without those of actions, which are chosen another way. */
function useHandlerNames(): readonly string[] {
  const { data } = useRead(reads.system(), never)
  const known = data?.nodes.flatMap(({ handlers }) => handlers ?? []) ?? []
  return [...new Set(known)].filter(name => !name.startsWith('action:')).sort()
}
