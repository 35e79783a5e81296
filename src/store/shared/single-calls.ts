// A list of two sorts of writes where one sort goes together in one call and each of the other in a
// call of its own.

interface Calls<A, B, R> {
  readonly isSingle: (item: A | B) => item is B
  readonly together: (items: readonly A[]) => Promise<readonly R[]>
  readonly single: (item: B) => Promise<R>
}

/** Answers in the order of the list. */
export async function writeEach<A, B, R>(
  items: readonly (A | B)[],
  { isSingle, together, single }: Calls<A, B, R>,
): Promise<R[]> {
  const joint = items.filter((item): item is A => !isSingle(item))
  const isAllSingle = joint.length === 0 && items.length > 0
  const written = isAllSingle ? [] : await together(joint)
  const results: R[] = []
  let at = 0
  for (const item of items) results.push(isSingle(item) ? await single(item) : written[at++]!)
  return results
}
