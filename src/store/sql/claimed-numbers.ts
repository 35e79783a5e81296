// Numbers of the jobs that were claimed here, by id: settling them needs no search. Whoever uses one checks
// that it still holds.

/** Leases that others ended leave theirs behind. */
const CLAIMED_MAX = 100_000

export class ClaimedNumbers {
  readonly #numbers = new Map<string, number>()

  get(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  set(id: string, seq: number): void {
    // Those that are still running are looked up again.
    if (this.#numbers.size >= CLAIMED_MAX) this.#numbers.clear()
    this.#numbers.set(id, seq)
  }

  delete(id: string): void {
    this.#numbers.delete(id)
  }
}
