// The button that deletes a document: asks first, sends the revision that was seen, and goes back to
// the list.

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { useAction } from '../data/act.ts'
import { api, type Url } from '../data/api.ts'
import { ProblemBox } from './conditions.tsx'
import { Confirm } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

interface RemoveProps {
  readonly name: string
  readonly revision: number
  readonly address: Url<unknown>
  readonly back: string
  /** What deleting means. */
  readonly children: ComponentChildren
}

export function RemoveButton({ name, revision, address, back, children }: RemoveProps) {
  const [isAsking, setAsking] = useState(false)
  const { route } = useLocation()
  const { isBusy, problem, run } = useAction(async () => {
    await api.delete(address, undefined, { ifMatch: `"${revision}"` })
    toast(`${name} is deleted`)
    route(back)
  })
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        <Icon name="trash" /> Delete…
      </button>
      {isAsking && (
        <Confirm
          title={`Delete ${name}`}
          label={`Delete ${name}`}
          isDangerous
          isBusy={isBusy}
          onClose={() => setAsking(false)}
          onConfirm={() => void run()}
        >
          {children}
          {problem !== null && <ProblemBox problem={problem} />}
        </Confirm>
      )}
    </>
  )
}
