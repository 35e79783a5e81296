// Questions about the shape of a value list that describing and linting share.
import type { FieldSpec } from './fields.ts'
import type { FieldValues } from './types.ts'

export function isFull(values: FieldValues, { min, max }: FieldSpec): boolean {
  return values.length === max - min + 1
}

/** The n of `*` + `/n` if the values are exactly that and n > 1, else null. */
export function starStep(values: FieldValues, { min, max }: FieldSpec): number | null {
  const [first, second] = values
  if (first !== min || second === undefined || second === first + 1) return null
  const step = second - first
  const regular = values.every((value, index) => value === first + index * step)
  return regular && values.at(-1)! + step > max ? step : null
}

/** A starStep that divides the range, so that the rhythm never breaks. */
export function evenStep(values: FieldValues, spec: FieldSpec): number | null {
  const step = starStep(values, spec)
  return step !== null && (spec.max - spec.min + 1) % step === 0 ? step : null
}
