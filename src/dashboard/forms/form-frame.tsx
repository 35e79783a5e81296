// What every form has around its fields: the refusal as a whole, rules of fields that are not shown,
// the way back and the button that names what it does.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ApiProblem } from '../data/problem.ts'
import { ProblemBox } from '../components/conditions.tsx'
import { Rules } from './field.tsx'
import { plural } from '../components/format.ts'

/** Every problem stands at its field: here it is enough to say how many there are. */
function summaryOf({ errors, message }: ApiProblem): string {
  return errors.length === 0
    ? message
    : `${plural(errors.length, 'problem')}, shown at the fields below.`
}

interface FrameProps {
  readonly problem: ApiProblem | null
  /** Whether a field shows its own problems; the frame lists those of all other fields. */
  readonly isShown: (field: string) => boolean
  readonly isBusy: boolean
  readonly label: string
  readonly back: string
  readonly onSubmit: () => void
  /** Above the fields: what someone else changed. */
  readonly notice?: ComponentChildren
  readonly children: ComponentChildren
}

export function FormFrame(props: FrameProps) {
  const { problem, isShown, isBusy, label, back, onSubmit, notice, children } = props
  const place = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // Whoever cannot see the red border lands in the first field that is wrong.
    place.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problem])
  const others = (problem?.errors ?? []).filter(({ field }) => !isShown(field))
  const submit = (event: Event) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form class="card job-form" ref={place} onSubmit={submit} noValidate>
      {problem !== null && <ProblemBox problem={problem} message={summaryOf(problem)} />}
      {notice}
      <Rules rules={others.map(({ field, rule }) => `${field} ${rule}`)} />
      {children}
      <div class="row end">
        <a class="button" href={back}>
          Back
        </a>
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Saving…' : label}
        </button>
      </div>
    </form>
  )
}
