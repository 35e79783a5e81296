// Doing something: busy while it lasts, a toast when it is done or refused, and everything on the
// screen read again.

import { useState } from 'preact/hooks'
import { toast } from '../components/toasts.tsx'
import { problemFrom, type ApiProblem } from './problem.ts'
import { refreshAll } from './read.ts'

interface Told {
  /** What to say when it is done; nothing when left out. */
  readonly done?: string
  /** Offered for ten seconds. */
  readonly undo?: () => Promise<unknown>
}

/** Null when it was refused; the refusal is told in a toast. */
export async function act<T>(deed: () => Promise<T>, told: Told = {}): Promise<T | null> {
  try {
    const result = await deed()
    const { undo } = told
    if (told.done !== undefined) {
      toast(told.done, undo ? { label: 'Undo', act: () => void act(undo, { done: 'Undone' }) } : {})
    }
    refreshAll()
    return result
  } catch (error) {
    const problem = problemFrom(error)
    toast(problem.message, { kind: 'problem' })
    return null
  }
}

export interface Deed<A extends readonly unknown[]> {
  readonly isBusy: boolean
  readonly problem: ApiProblem | null
  readonly run: (...args: A) => Promise<boolean>
}

/** For forms: the refusal stays where it was caused, instead of in a toast. */
export function useDeed<A extends readonly unknown[]>(
  deed: (...args: A) => Promise<unknown>,
): Deed<A> {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const run = async (...args: A) => {
    setBusy(true)
    setProblem(null)
    try {
      await deed(...args)
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
