// Where steps are drawn: each in the column behind the last one it needs.

export interface StepLike {
  readonly id: string
  readonly needs: readonly string[]
}

export interface Placed<T extends StepLike> {
  readonly step: T
  readonly column: number
  readonly row: number
}

/** Steps that need each other in a circle cannot be stored; if one came, it ends in column 0. */
export function placeSteps<T extends StepLike>(steps: readonly T[]): Placed<T>[] {
  const byId = new Map(steps.map(step => [step.id, step]))
  const columns = new Map<string, number>()
  const columnOf = (id: string, seen: readonly string[]): number => {
    const known = columns.get(id)
    if (known !== undefined) return known
    const needs = byId.get(id)?.needs.filter(need => byId.has(need) && !seen.includes(need)) ?? []
    const column =
      needs.length === 0 ? 0 : 1 + Math.max(...needs.map(need => columnOf(need, [...seen, id])))
    columns.set(id, column)
    return column
  }
  const filled = new Map<number, number>()
  return steps.map(step => {
    const column = columnOf(step.id, [])
    const row = filled.get(column) ?? 0
    filled.set(column, row + 1)
    return { step, column, row }
  })
}
