// Changing something that was read: with its revision, and with both changes shown before anything is
// written when someone else was faster.

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { useAction, type Action } from '../data/act.ts'
import { call, type Url } from '../data/api.ts'
import { ApiProblem } from '../data/problem.ts'
import type { Fields } from './form-values.ts'
import { toast } from '../components/toasts.tsx'

interface Edited<T> {
  readonly name: string
  readonly address: Url<T>
  readonly etag: string
  readonly back: string
  /** What someone else changed since, by field. */
  readonly theirsOf: (newest: T) => Fields
  /** Writes, and says what: by field. */
  readonly write: (ifMatch: string) => Promise<unknown>
  readonly mine: () => Promise<Fields> | Fields
}

interface Conflict {
  readonly revision: number
  readonly etag: string
  readonly theirs: Fields
  readonly mine: Fields
}

interface Editing extends Omit<Action<[]>, 'run'> {
  readonly save: () => void
  readonly conflict: ComponentChildren
}

export function useEdit<T extends { readonly revision: number }>(edited: Edited<T>): Editing {
  const { route } = useLocation()
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const { isBusy, problem, run } = useAction(async (ifMatch: string) => {
    try {
      await edited.write(ifMatch)
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 412) {
        const { body, etag } = await call(edited.address)
        const theirs = edited.theirsOf(body)
        const mine = await edited.mine()
        setConflict({ revision: body.revision, etag: etag ?? '*', theirs, mine })
      }
      throw error
    }
    toast(`${edited.name} is changed`)
    route(edited.back)
  })
  return {
    isBusy,
    problem: problem?.status === 412 ? null : problem,
    save: () => void run(edited.etag),
    conflict: conflict !== null && (
      <ConflictBox
        conflict={conflict}
        onMine={() => void run(conflict.etag)}
        onTheirs={() => route(edited.back)}
      />
    ),
  }
}

const shown = (value: unknown) => (value === undefined ? '–' : JSON.stringify(value))

interface ConflictProps {
  readonly conflict: Conflict
  readonly onMine: () => void
  readonly onTheirs: () => void
}

function ConflictBox({ conflict, onMine, onTheirs }: ConflictProps) {
  const { theirs, mine, revision } = conflict
  const fields = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])]
  return (
    <div class="problem" role="alert">
      <div class="stack">
        <strong>Someone changed it meanwhile (now revision {revision})</strong>
        <table class="plain">
          <caption class="away-from-sight">Both changes</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Theirs</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(field => (
              <tr key={field}>
                <td data-label="Field">{field}</td>
                <td data-label="Theirs">
                  <code>{shown(theirs[field])}</code>
                </td>
                <td data-label="Yours">
                  <code>{shown(mine[field])}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="row">
          <button type="button" class="button primary" onClick={onMine}>
            Save yours on top
          </button>
          <button type="button" class="button" onClick={onTheirs}>
            Leave it as it is
          </button>
        </div>
      </div>
    </div>
  )
}
