// Doing something: busy while it lasts, a toast when it is done or refused, and everything on the
// screen read again.

import { useState } from 'preact/hooks'
import { toast } from '../components/toasts.tsx'
import { problemFrom, type ApiProblem } from './problem.ts'
import { refreshAll } from './read.ts'

interface Notice {
  /** What to say when it is done; nothing when left out. */
  readonly done?: string
  /** Offered for ten seconds. */
  readonly undo?: () => Promise<unknown>
}

/** Null when it was refused; the refusal is notice in a toast. */
export async function act<T>(action: () => Promise<T>, notice: Notice = {}): Promise<T | null> {
  try {
    const result = await action()
    const { undo } = notice
    if (notice.done !== undefined) {
      toast(
        notice.done,
        undo ? { label: 'Undo', act: () => void act(undo, { done: 'Undone' }) } : {},
      )
    }
    refreshAll()
    return result
  } catch (error) {
    const problem = problemFrom(error)
    toast(problem.message, { kind: 'problem' })
    return null
  }
}

export interface Action<A extends readonly unknown[]> {
  readonly isBusy: boolean
  readonly problem: ApiProblem | null
  readonly run: (...args: A) => Promise<boolean>
}

/** For forms: the refusal stays where it was caused, instead of in a toast. */
export function useAction<A extends readonly unknown[]>(
  action: (...args: A) => Promise<unknown>,
): Action<A> {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const run = async (...args: A) => {
    setBusy(true)
    setProblem(null)
    try {
      await action(...args)
      refreshAll()
      return true
    } catch (error) {
      setProblem(problemFrom(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}
