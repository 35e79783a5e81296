// Pages: where a walk along an ordered index begins.

/** The near end of a walk by text, behind the mark. */
export function lexFrom(mark: string | null, isNewest: boolean): string {
  if (mark === null) return isNewest ? '+' : '-'
  return `(${mark}`
}
