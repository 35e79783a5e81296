// Names of queues as values of a label: programs may invent any number of queues, and each value
// is a series that Prometheus keeps for weeks.

/** So many queues are named; the others are shown together. */
export const NAMED_QUEUES_MAX = 50
export const OTHER_QUEUES = 'other'

export class QueueLabels {
  readonly #named = new Set<string>()
  #hasOthers = false

  constructor(first: readonly string[]) {
    for (const queue of first) this.labelOf(queue)
  }

  /** A queue keeps its label: counters must not move from one series to another. */
  labelOf(queue: string): string {
    if (this.#named.has(queue)) return queue
    if (queue !== OTHER_QUEUES && this.#named.size < NAMED_QUEUES_MAX) {
      this.#named.add(queue)
      return queue
    }
    this.#hasOthers = true
    return OTHER_QUEUES
  }

  get named(): readonly string[] {
    return [...this.#named]
  }

  /** Whether some queues have no name of their own here. */
  get hasOthers(): boolean {
    return this.#hasOthers
  }

  get all(): readonly string[] {
    return this.#hasOthers ? [...this.#named, OTHER_QUEUES] : this.named
  }
}
