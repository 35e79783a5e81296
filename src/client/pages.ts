// Lists without their pages: what is asked for is fetched as it is read.

export interface PageOf<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

/** A page may be empty and still have one after it. */
export async function* each<T>(
  read: (cursor: string | undefined) => Promise<PageOf<T>>,
): AsyncGenerator<T, void> {
  let cursor: string | undefined
  do {
    const { items, next } = await read(cursor)
    yield* items
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
