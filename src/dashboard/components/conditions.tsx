// What stands where data will be, should be or cannot be: loading, empty, refused. Each offers the
// next step.

import type { ComponentChildren } from 'preact'
import type { ApiProblem } from '../data/problem.ts'
import type { Read } from '../data/read.ts'
import { base } from '../href.ts'
import { Icon } from './icon.tsx'
import { useView, type View } from './view-state.ts'

export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} class="bone" />
      ))}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
  readonly actions?: ComponentChildren
}

export function Empty({ title, children, actions }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="dim">{children}</div>}
      {actions !== undefined && <div class="row center">{actions}</div>}
    </div>
  )
}

interface ProblemProps {
  readonly problem: ApiProblem
  readonly retry?: () => void
  /** Instead of all of it, where each part of it is told at its place. */
  readonly message?: string
}

export function ProblemBox({ problem, retry, message = problem.message }: ProblemProps) {
  const view = useView()
  // What is told of each field by the service's own words need not be told by their names alone.
  const isListed = message === problem.message && problem.errors.length > 0
  const refused = problem.errors.flatMap(({ field }) => placeIn(view, field) ?? [])
  const isInAddress = retry !== undefined && refused.length > 0
  return (
    <div class="problem" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{problem.title}</strong>
        {message !== problem.title && !isListed && <p>{message}</p>}
        {isListed && (
          <ul class="rules">
            {problem.errors.map(({ field, rule }) => (
              <li key={`${field} ${rule}`}>
                <code>{field}</code> {rule}
              </li>
            ))}
          </ul>
        )}
        <p class="dim small">
          {problem.type !== '' && (
            <a href={base + problem.type} target="_blank" rel="noreferrer">
              {problem.slug}
            </a>
          )}
          {problem.requestId !== null && <> request {problem.requestId}</>}
        </p>
      </div>
      {isInAddress && (
        <a
          class="button"
          href={view.href({
            ...Object.fromEntries(refused.map(name => [name, null])),
            cursor: null,
            page: null,
          })}
        >
          Reset {[...new Set(refused)].map(name => (name === 'q' ? 'filter' : name)).join(', ')}
        </a>
      )}
      {retry && !isInAddress && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Where the page's address has a field: by its name, or as a word of the filter. */
function placeIn(view: View, field: string): string | null {
  if (view.get(field) !== null) return field
  const filter = view.get('q')
  return filter?.includes(`${field}:`) === true ? 'q' : null
}

interface ShownProps<T> {
  readonly read: Read<T>
  readonly children: (data: T) => ComponentChildren
  readonly lines?: number
}

/** The data when there is some, with the refusal above it when the newest reading failed. */
export function Shown<T>({ read, children, lines = 4 }: ShownProps<T>) {
  const { data, problem, reload } = read
  if (data === undefined) {
    return problem === null ? (
      <Loading lines={lines} />
    ) : (
      <ProblemBox problem={problem} retry={reload} />
    )
  }
  return (
    <div class={read.isOld ? 'old' : undefined} aria-busy={read.isLoading}>
      {problem !== null && <ProblemBox problem={problem} retry={reload} />}
      {children(data)}
    </div>
  )
}
