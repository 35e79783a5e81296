// A store that can be made to fail: all of it for a while, or one call whose answer is cut off.

import { SchedulerError } from '../../src/core/errors.ts'
import type { CommitOptions, Store } from '../../src/store/port.ts'

/** Members that reach no server: an outage does not change what they do. */
const local: ReadonlySet<string | symbol> = new Set(['open', 'close', 'listen'])

type Method = Exclude<keyof Store, 'kind' | 'promise' | 'listen'>
/** A commit that writes all of its parts or none is cut apart from the others. */
type Cut = Method | 'atomic commit'
type When = 'before' | 'after'

export class Faults {
  /** Nothing can be reached. */
  isDown = false
  /** Calls made by nodes while it was down. */
  refused = 0
  readonly #planned: { method: Cut; when: When }[] = []

  /** The next call fails before it did anything, or after it did everything. */
  cut(method: Cut, when: When): void {
    this.#planned.push({ method, when })
  }

  get left(): number {
    return this.#planned.length
  }

  wrap(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) =>
          this.#call(
            isAtomic(name, args) ? 'atomic commit' : name,
            () => Reflect.apply(member, target, args) as unknown,
          )
      },
    })
  }

  #call(name: string | symbol, call: () => unknown): unknown {
    if (local.has(name)) return call()
    if (this.isDown) {
      this.refused++
      return Promise.reject(unreachable())
    }
    const at = this.#planned.findIndex(plan => plan.method === name)
    if (at < 0) return call()
    const [plan] = this.#planned.splice(at, 1)
    if (plan!.when === 'before') return Promise.reject(unreachable())
    return Promise.resolve(call()).then(() => {
      throw unreachable()
    })
  }
}

function unreachable(): SchedulerError {
  return new SchedulerError('STORE_UNAVAILABLE', 'the store cannot be reached (in a test)')
}

export function isAtomic(name: string | symbol, args: readonly unknown[]): boolean {
  return name === 'commit' && (args[1] as CommitOptions).atomic !== undefined
}
