// This start of this process as the owner of leases, and the beat by which others know it lives.

import { beatWrite, ownerOf } from '../core/run/owner.ts'
import { hash32 } from '../core/schedule/spread.ts'
import { HOUR, type Instant, type Millis } from '../core/time.ts'
import type { Store } from '../store/port.ts'
import type { Ids } from './ids.ts'

/** Long after any lease of it has ended: a beat that is gone is as good as an old one. */
const BEAT_KEPT_MS: Millis = HOUR

export class Owner {
  readonly #nodeId: string
  readonly #ids: Ids
  /** What the leases of this start are held under. */
  id: string

  constructor(nodeId: string, ids: Ids) {
    this.#nodeId = nodeId
    this.#ids = ids
    this.id = this.#nextId()
  }

  /** Another start: leases of the last one are not ours any more. */
  restart(): void {
    this.id = this.#nextId()
  }

  async beat(store: Pick<Store, 'putRecords'>, now: Instant): Promise<void> {
    await store.putRecords([beatWrite(this.id, BEAT_KEPT_MS)], now)
  }

  #nextId(): string {
    return ownerOf(this.#nodeId, hash32(this.#ids.token()).toString(16).padStart(8, '0'))
  }
}
