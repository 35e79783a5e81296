// A store whose calls are waited for before virtual time goes on, and that can be lost and found.

import { SchedulerError } from '../core/errors.ts'
import type { Store } from '../store/port.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface TrackedStore {
  readonly store: Store
  /** While lost, every call fails as if the network were down. */
  isLost: boolean
}

export function trackedStore(inner: Store, clock: VirtualClock): TrackedStore {
  const tracked: { store: Store; isLost: boolean } = { store: inner, isLost: false }
  tracked.store = new Proxy(inner, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        // It asks the store nothing: there is no answer to wait for.
        if (property === 'listen') return Reflect.apply(member, target, args) as unknown
        if (tracked.isLost && property !== 'close') {
          const error = new SchedulerError('STORE_UNAVAILABLE', 'the test took the store away')
          return Promise.reject(error)
        }
        return clock.track(Reflect.apply(member, target, args) as Promise<unknown>)
      }
    },
  })
  return tracked
}
